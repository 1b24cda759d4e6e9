// Memory from the device, and the ways to get some back when there is none left.
#include <algorithm>

#include "tidemark/engine/allocator/block_size.h"
#include "tidemark/engine/allocator/caching_allocator.h"

namespace tidemark {
namespace {

constexpr std::int64_t kMostReserved = std::int64_t{1} << 61;

}  // namespace

// However much a device has: the sum of all segments stays far below 63 bits.
bool CachingAllocator::has_on_device(std::int64_t bytes) const {
  return bytes <= std::min(options_.device_bytes, kMostReserved) - counters_.all.reserved.current;
}

void CachingAllocator::add_reserved(std::uint32_t pool, std::int64_t bytes) {
  pools_[pool].held += bytes;
  count(pool, [&](PoolCounters& c) { c.reserved.add(bytes); });
}

void CachingAllocator::remove_reserved(std::uint32_t pool, std::int64_t bytes) {
  pools_[pool].held -= bytes;
  count(pool, [&](PoolCounters& c) { c.reserved.remove(bytes); });
}

std::uint32_t CachingAllocator::add_segment(std::int64_t bytes, std::int64_t page) {
  const std::int64_t address = next_place_ ? *next_place_
                               : page == 0 ? addresses_.take(bytes)
                                           : addresses_.reserve(bytes);
  const Segment segment{address, bytes, registrations_++, next_place_.has_value(), page};
  next_place_.reset();
  if (unused_segments_.empty()) {
    segments_.push_back(segment);
    return static_cast<std::uint32_t>(segments_.size() - 1);
  }
  const std::uint32_t number = unused_segments_.back();
  unused_segments_.pop_back();
  segments_[number] = segment;
  return number;
}

void CachingAllocator::remove_segment(std::uint32_t number) {
  const Segment& segment = segments_[number];
  if (!segment.is_placed) addresses_.give_back(segment.address, segment.size);
  unused_segments_.push_back(number);
}

void CachingAllocator::tell(SegmentAction action, std::int64_t address, std::int64_t bytes,
                            std::uint32_t stream) {
  if (segment_events_) segment_events_->push_back({action, address, bytes, stream});
}

Block CachingAllocator::first_block(std::uint32_t segment, const Request& request) const {
  Block block;
  block.address = segments_[segment].address;
  block.size = segments_[segment].size;
  block.segment = segment;
  block.pool = request.pool;
  block.stream = request.stream;
  return block;
}

// One try: a new segment, or more pages of one that grows.
BlockId CachingAllocator::new_memory(const Request& request) {
  const std::int64_t bytes = segment_size(request.size, options_.settings);
  if (options_.limit_bytes && bytes > *options_.limit_bytes - counters_.all.reserved.current)
    return kNoBlock;
  if (options_.settings.expandable_segments) return extend(request);
  if (!has_on_device(bytes)) return kNoBlock;
  const Block block = first_block(add_segment(bytes), request);
  count(request.pool, [&](PoolCounters& c) { c.segments.add(1); });
  add_reserved(request.pool, bytes);
  if (bytes >= options_.settings.max_split_bytes) counters_.oversize_segments.add(1);
  ++counters_.device_allocs;
  tell(SegmentAction::Alloc, block.address, bytes, request.stream);
  return blocks_.add(block);
}

BlockId CachingAllocator::take_new_memory(const Request& request) {
  if (collects_garbage()) collect_garbage();
  BlockId block = new_memory(request);
  if (block == kNoBlock && release_for(request)) block = new_memory(request);
  if (block != kNoBlock || is_capturing_) return block;
  release_cached();
  ++counters_.retries;
  return new_memory(request);
}

// Segments of large blocks that have been free for long, until enough is gained.
void CachingAllocator::collect_garbage() {
  const auto threshold = static_cast<std::int64_t>(options_.settings.garbage_threshold *
                                                   static_cast<double>(*options_.limit_bytes));
  const std::int64_t wanted = counters_.all.reserved.current - threshold;
  if (wanted <= 0) return;
  const Pool& pool = pools_[kLarge];
  const auto age = [&](BlockId id) { return pool.searches - blocks_[id].cached_at; };
  std::vector<BlockId> candidates;
  std::int64_t total_age = 0, gained = 0;
  for (const FreeBlocks& free : pool.free)
    free.for_each(blocks_, [&](BlockId id) {
      if (!is_whole_segment(id)) return;
      candidates.push_back(id);
      total_age += age(id);
    });
  for (bool was_freed = true; was_freed && gained < wanted && !candidates.empty();) {
    const double mean = static_cast<double>(total_age) / static_cast<double>(candidates.size());
    std::vector<BlockId> kept;
    for (const BlockId id : candidates) {
      if (static_cast<double>(age(id)) < mean) {
        kept.push_back(id);
        continue;
      }
      gained += blocks_[id].size;
      total_age -= age(id);
      release(id);
    }
    was_freed = kept.size() < candidates.size();
    candidates = std::move(kept);
  }
}

// With max_split_size alone: gives back one oversize block that is large enough, or several.
bool CachingAllocator::release_for(const Request& request) {
  const std::int64_t from = options_.settings.max_split_bytes;
  if (from == AllocatorSettings::kUnlimited) return false;
  const std::int64_t wanted = std::max(request.size, from);
  const FreeBlocks& free = pools_[request.pool].free[request.stream];
  const BlockId id = free.find(wanted, blocks_);
  if (id == kNoBlock) return release_largest(request, wanted);
  if (!is_whole_segment(id)) return false;
  release(id);
  return true;
}

// Oversize blocks from the largest down, until they are enough together.
bool CachingAllocator::release_largest(const Request& request, std::int64_t wanted) {
  std::vector<BlockId> oversize;
  pools_[request.pool].free[request.stream].for_each(blocks_, [&](BlockId id) {
    if (blocks_[id].size >= options_.settings.max_split_bytes) oversize.push_back(id);
  });
  std::int64_t released = 0;
  while (released < wanted && !oversize.empty()) {
    const BlockId id = oversize.back();
    oversize.pop_back();
    if (!is_whole_segment(id)) continue;
    released += blocks_[id].size;
    release(id);
  }
  return released >= wanted;
}

void CachingAllocator::release(BlockId id) {
  const Block block = blocks_[id];
  take_free(id);
  count(block.pool, [&](PoolCounters& c) { c.segments.remove(1); });
  remove_reserved(block.pool, block.size);
  if (block.size >= options_.settings.max_split_bytes) counters_.oversize_segments.remove(1);
  ++counters_.device_frees;
  tell(SegmentAction::Free, block.address, block.size, block.stream);
  remove_segment(block.segment);
  blocks_.remove(id);
}

void CachingAllocator::release_pool_blocks(std::uint32_t pool) {
  std::vector<BlockId> whole, expandable;
  for (const FreeBlocks& free : pools_[pool].free)
    free.for_each(blocks_, [&](BlockId id) {
      if (blocks_[id].is_expandable) expandable.push_back(id);
      else if (is_whole_segment(id)) whole.push_back(id);
    });
  for (const BlockId id : whole) release(id);
  for (const BlockId id : expandable) unmap(id);
}

// True where nothing is left of a pool that nobody uses.
bool CachingAllocator::give_back(PoolId pool) {
  release_pool_blocks(2 * pool + kSmall);
  release_pool_blocks(2 * pool + kLarge);
  if (pools_[2 * pool + kSmall].held + pools_[2 * pool + kLarge].held > 0) return false;
  unused_pools_.push_back(pool);
  return true;
}

void CachingAllocator::release_cached() {
  if (!is_capturing_) {
    synchronise();
    release_pool_blocks(kLarge);
    release_pool_blocks(kSmall);
  }
  std::erase_if(released_, [&](PoolId pool) { return give_back(pool); });
}

void CachingAllocator::empty_cache() { release_cached(); }

void CachingAllocator::empty_pool(PoolId pool) {
  const auto found = std::find(released_.begin(), released_.end(), pool);
  if (found == released_.end()) return;
  if (!is_capturing_) pass_all_events();
  if (give_back(pool)) released_.erase(found);
}

PoolId CachingAllocator::add_pool() {
  if (!unused_pools_.empty()) {
    const PoolId pool = unused_pools_.back();
    unused_pools_.pop_back();
    uses_[pool] = 1;
    return pool;
  }
  pools_.resize(pools_.size() + 2);
  uses_.push_back(1);
  return static_cast<PoolId>(uses_.size() - 1);
}

void CachingAllocator::share_pool(PoolId pool) {
  if (uses_[pool]++ == 0) std::erase(released_, pool);
}

void CachingAllocator::release_pool(PoolId pool) {
  if (--uses_[pool] == 0) released_.push_back(pool);
}

}  // namespace tidemark
