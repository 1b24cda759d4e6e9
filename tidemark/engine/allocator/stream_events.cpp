// Blocks that other streams still use when they are freed.
#include <algorithm>

#include "tidemark/engine/allocator/caching_allocator.h"

namespace tidemark {

void CachingAllocator::record_stream(BlockId id, std::uint32_t stream) {
  Block& block = blocks_[id];
  if (stream == block.stream) return;
  block.is_used_elsewhere = true;
  std::vector<std::uint32_t>& streams = other_streams_[id];
  if (std::find(streams.begin(), streams.end(), stream) == streams.end()) streams.push_back(stream);
}

void CachingAllocator::wait_for_streams(BlockId id) {
  Block& block = blocks_[id];
  block.events = static_cast<std::uint32_t>(other_streams_[id].size());
  block.is_used_elsewhere = false;
  other_streams_.erase(id);
  waiting_.push_back(id);
}

void CachingAllocator::finish(BlockId id) {
  blocks_[id].events = 0;
  retire(id);
}

void CachingAllocator::pass_events(BlockId id) {
  const auto found = std::find(waiting_.begin(), waiting_.end(), id);
  if (found == waiting_.end()) return;
  waiting_.erase(found);
  finish(id);
}

void CachingAllocator::pass_all_events() {
  for (const BlockId id : deferred_) wait_for_streams(id);
  deferred_.clear();
  for (const BlockId id : waiting_) finish(id);
  waiting_.clear();
}

void CachingAllocator::synchronise() {
  ++counters_.synchronisations;
  pass_all_events();
}

}  // namespace tidemark
