// One request and one free: the paths that every event takes.
#include "tidemark/engine/allocator/caching_allocator.h"

#include "tidemark/engine/allocator/block_size.h"

namespace tidemark {

CachingAllocator::CachingAllocator(const AllocatorOptions& options)
    : options_(options), pools_(2), uses_(1) {}

BlockId CachingAllocator::malloc(std::int64_t bytes, std::uint32_t stream, PoolId pool) {
  if (has_events() && !is_capturing_ && options_.events_pass == EventsPass::AtNextMalloc)
    pass_all_events();
  if (bytes < 1 || bytes > kLargestRequest) {
    ++counters_.ooms;
    return kNoBlock;
  }
  const std::int64_t size = block_size(bytes, options_.settings);
  const Request request{size, bytes, stream,
                        2 * pool + (size <= kSmallBlockLimit ? kSmall : kLarge)};
  BlockId block = find_free(request);
  if (block == kNoBlock) [[unlikely]]
    block = take_new_memory(request);
  if (block == kNoBlock) [[unlikely]] {
    ++counters_.ooms;
    return kNoBlock;
  }
  return hand_out(block, request);
}

CachingAllocator::Pool& CachingAllocator::pool_for(std::uint32_t pool, std::uint32_t stream) {
  Pool& found = pools_[pool];
  if (stream >= found.free.size()) [[unlikely]] {
    found.free.resize(stream + std::size_t{1});
    found.unmapped.resize(stream + std::size_t{1});
  }
  return found;
}

BlockId CachingAllocator::find_free(const Request& request) {
  Pool& pool = pool_for(request.pool, request.stream);
  if (collects_garbage()) [[unlikely]]
    ++pool.searches;
  FreeBlocks& free = pool.free[request.stream];
  const BlockId found = best_fit(request, free);
  if (found != kNoBlock) free.erase(found, blocks_);
  return found;
}

// The search never goes on past a block that is refused for its size.
BlockId CachingAllocator::best_fit(const Request& request, const FreeBlocks& free) const {
  const AllocatorSettings& settings = options_.settings;
  BlockId id = free.find(request.size, blocks_);
  if (id != kNoBlock && blocks_[id].is_expandable) id = beside_growth(id, free);
  if (id == kNoBlock) return kNoBlock;
  const std::int64_t size = blocks_[id].size;
  const bool is_oversize = request.size >= settings.max_split_bytes;
  if (!is_oversize && size >= settings.max_split_bytes) return kNoBlock;
  if (is_oversize && size - request.size >= settings.non_split_slack_bytes) return kNoBlock;
  return id;
}

// A block that can grow counts as large as it can get, so that the walk may go on to a larger one
// that cannot.
BlockId CachingAllocator::beside_growth(BlockId id, const FreeBlocks& free) const {
  if (!options_.settings.expandable_segments) {
    do id = free.next(id, blocks_);
    while (id != kNoBlock && blocks_[id].is_expandable);
    return id;
  }
  const auto reach = [&](const Block& block) {
    const bool can_grow = block.next != kNoBlock && !blocks_[block.next].is_mapped;
    return block.size + (can_grow ? blocks_[block.next].size : 0);
  };
  while (blocks_[id].is_expandable) {
    const BlockId next = free.next(id, blocks_);
    if (next == kNoBlock || reach(blocks_[next]) >= reach(blocks_[id])) break;
    id = next;
  }
  return id;
}

bool CachingAllocator::splits(const Block& block, std::int64_t size) const {
  const std::int64_t rest = block.size - size;
  if (is_small(block.pool) || options_.settings.expandable_segments)
    return rest >= kCudaGranularity;
  return size < options_.settings.max_split_bytes && rest > kSmallBlockLimit;
}

// The front part becomes a block of its own, the rest stays free.
BlockId CachingAllocator::split(BlockId id, std::int64_t size) {
  Block front = blocks_[id];
  front.size = size;
  front.next = id;
  const BlockId made = blocks_.add(front);
  if (front.previous != kNoBlock) blocks_[front.previous].next = made;
  Block& rest = blocks_[id];
  rest.previous = made;
  rest.address += size;
  rest.size -= size;
  put_free(id);
  return made;
}

BlockId CachingAllocator::hand_out(BlockId id, const Request& request) {
  const bool was_split = blocks_[id].is_split(), is_expandable = blocks_[id].is_expandable;
  const bool is_cut = splits(blocks_[id], request.size);
  const BlockId rest = id;
  if (is_cut) id = split(id, request.size);
  Block& block = blocks_[id];
  block.is_allocated = true;
  block.requested = request.requested;
  const std::int64_t size = block.size;
  count(request.pool, [&](PoolCounters& c) {
    if (!is_expandable) {
      if (is_cut && !was_split) {
        c.inactive_split.add(blocks_[rest].size);
        c.inactive_splits.add(1);
      } else if (was_split) {
        c.inactive_split.remove(size);
        if (!is_cut) c.inactive_splits.remove(1);
      }
    }
    c.blocks.add(1);
    c.allocated.add(size);
    c.active_blocks.add(1);
    c.active.add(size);
    c.requested.add(request.requested);
  });
  if (size >= options_.settings.max_split_bytes) counters_.oversize_blocks.add(1);
  return id;
}

void CachingAllocator::free(BlockId id) {
  Block& block = blocks_[id];
  block.is_allocated = false;
  count(block.pool, [&](PoolCounters& c) {
    c.blocks.remove(1);
    c.allocated.remove(block.size);
  });
  if (block.size >= options_.settings.max_split_bytes) counters_.oversize_blocks.remove(1);
  if (!block.is_used_elsewhere) return retire(id);
  if (is_capturing_) deferred_.push_back(id);
  else wait_for_streams(id);
}

std::uint64_t CachingAllocator::tie_of(const Block& block) const {
  if (options_.settings.tie_break == TieBreak::Address)
    return static_cast<std::uint64_t>(block.address);
  const Segment& segment = segments_[block.segment];
  const auto offset = static_cast<std::uint64_t>(block.address - segment.address);
  return std::uint64_t{segment.registration} << 32 | offset / kCudaGranularity;
}

void CachingAllocator::put_free(BlockId id) {
  Block& block = blocks_[id];
  Pool& pool = pools_[block.pool];
  block.cached_at = pool.searches;
  block.tie = tie_of(block);
  pool.free[block.stream].insert(id, blocks_);
}

// The block is really free: it joins its free neighbours.
void CachingAllocator::retire(BlockId id) {
  Block& block = blocks_[id];
  const std::int64_t size = block.size, requested = block.requested;
  std::int64_t splits = 0, split_bytes = 0;
  for (const BlockId neighbour : {block.previous, block.next}) {
    const std::int64_t joined = join(id, neighbour);
    if (joined > 0) --splits;
    split_bytes -= joined;
  }
  block.requested = 0;
  put_free(id);
  if (block.is_split()) {
    ++splits;
    split_bytes += block.size;
  }
  const auto move = [](Stat& stat, std::int64_t change) {
    if (change > 0) stat.add(change);
    else stat.remove(-change);
  };
  count(block.pool, [&](PoolCounters& c) {
    if (!block.is_expandable) {
      move(c.inactive_splits, splits);
      move(c.inactive_split, split_bytes);
    }
    c.active_blocks.remove(1);
    c.active.remove(size);
    c.requested.remove(requested);
  });
}

// Takes a free neighbour into the block, whose key is not in the set of free ones now. Returns its
// bytes, or 0 where it cannot be taken.
std::int64_t CachingAllocator::join(BlockId id, BlockId neighbour) {
  if (neighbour == kNoBlock) return 0;
  Block& block = blocks_[id];
  const Block& other = blocks_[neighbour];
  if (!other.is_idle() || other.is_mapped != block.is_mapped) return 0;
  if (other.is_mapped) take_free(neighbour);
  else take_unmapped(neighbour);
  if (block.previous == neighbour) {
    block.address = other.address;
    block.previous = other.previous;
    if (block.previous != kNoBlock) blocks_[block.previous].next = id;
  } else {
    block.next = other.next;
    if (block.next != kNoBlock) blocks_[block.next].previous = id;
  }
  const std::int64_t joined = other.size;
  block.size += joined;
  blocks_.remove(neighbour);
  return joined;
}

}  // namespace tidemark
