// Searches, inserts and erases in chunks.
#include "tidemark/engine/allocator/free_blocks.h"

#include <algorithm>
#include <utility>

namespace tidemark {

std::size_t FreeBlocks::chunk_of(const FreeKey& key) const {
  std::size_t low = 0, count = fronts_.size();
  while (count > 1) {
    const std::size_t half = count / 2;
    if (!(key < fronts_[low + half].first)) low += half;
    count -= half;
  }
  return low;
}

FreeBlocks::Position FreeBlocks::find(const FreeKey& key) const {
  if (fronts_.empty()) return {};
  const std::size_t front = chunk_of(key);
  const Chunk& chunk = chunks_[fronts_[front].chunk];
  std::uint32_t low = 0, count = chunk.count;
  while (count > 0) {
    const std::uint32_t half = count / 2;
    const bool is_right = chunk.entries[low + half].key < key;
    low = is_right ? low + half + 1 : low;
    count = is_right ? count - half - 1 : half;
  }
  return low < chunk.count ? Position{front, low} : Position{front + 1, 0};
}

FreeBlocks::Position FreeBlocks::next(Position at) const {
  ++at.slot;
  return at.slot < chunks_[fronts_[at.chunk].chunk].count ? at : Position{at.chunk + 1, 0};
}

std::uint32_t FreeBlocks::new_chunk() {
  if (unused_.empty()) {
    chunks_.emplace_back();
    return static_cast<std::uint32_t>(chunks_.size() - 1);
  }
  const std::uint32_t chunk = unused_.back();
  unused_.pop_back();
  return chunk;
}

void FreeBlocks::halve(std::size_t front) {
  const std::uint32_t right = new_chunk();
  Chunk& from = chunks_[fronts_[front].chunk];
  Chunk& to = chunks_[right];
  const std::uint32_t kept = from.count / 2;
  std::copy(from.entries.begin() + kept, from.entries.begin() + from.count, to.entries.begin());
  to.count = from.count - kept;
  from.count = kept;
  fronts_.insert(fronts_.begin() + static_cast<std::ptrdiff_t>(front) + 1,
                 {to.entries[0].key, right});
}

void FreeBlocks::insert(const FreeKey& key, BlockId block) {
  if (fronts_.empty()) {
    const std::uint32_t chunk = new_chunk();
    chunks_[chunk].count = 0;
    fronts_.push_back({key, chunk});
  }
  std::size_t front = chunk_of(key);
  if (chunks_[fronts_[front].chunk].count == kChunk) {
    halve(front);
    front = chunk_of(key);
  }
  Chunk& chunk = chunks_[fronts_[front].chunk];
  std::uint32_t at = chunk.count++;
  for (; at > 0 && key < chunk.entries[at - 1].key; --at) chunk.entries[at] = chunk.entries[at - 1];
  chunk.entries[at] = {key, block};
  if (at == 0) fronts_[front].first = key;
}

void FreeBlocks::erase(Position at) {
  const std::uint32_t number = fronts_[at.chunk].chunk;
  Chunk& chunk = chunks_[number];
  std::copy(chunk.entries.begin() + at.slot + 1, chunk.entries.begin() + chunk.count,
            chunk.entries.begin() + at.slot);
  --chunk.count;
  if (chunk.count > 0) {
    if (at.slot == 0) fronts_[at.chunk].first = chunk.entries[0].key;
    return;
  }
  unused_.push_back(number);
  fronts_.erase(fronts_.begin() + static_cast<std::ptrdiff_t>(at.chunk));
}

}  // namespace tidemark
