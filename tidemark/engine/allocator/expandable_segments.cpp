// Segments that grow: much address space, and memory for whole pages of it.
//
//   | in use | free | in use | free ....| no memory ..............|
//   |<------- pages with memory ------->|<---- to be mapped ----->|
#include <algorithm>

#include "tidemark/engine/allocator/block_size.h"
#include "tidemark/engine/allocator/caching_allocator.h"

namespace tidemark {
namespace {

// Of a device whose memory is not known, or not to be believed.
constexpr std::int64_t kMostDeviceBytes = std::int64_t{1} << 40;

}  // namespace

void CachingAllocator::put_unmapped(BlockId id) {
  const Block& block = blocks_[id];
  std::vector<BlockId>& all = pools_[block.pool].unmapped[block.stream];
  const auto after = std::find_if(all.begin(), all.end(), [&](BlockId other) {
    return blocks_[other].address > block.address;
  });
  all.insert(after, id);
}

void CachingAllocator::take_unmapped(BlockId id) {
  std::vector<BlockId>& all = pools_[blocks_[id].pool].unmapped[blocks_[id].stream];
  all.erase(std::find(all.begin(), all.end(), id));
}

bool CachingAllocator::has_room(BlockId id, std::int64_t bytes) const {
  std::int64_t found = 0;
  for (; found < bytes && id != kNoBlock && blocks_[id].is_idle(); id = blocks_[id].next)
    found += blocks_[id].size;
  return found >= bytes;
}

// The lowest place where free blocks and address space together suffice.
BlockId CachingAllocator::extendable(const Request& request) {
  for (BlockId id : pools_[request.pool].unmapped[request.stream]) {
    const BlockId before = blocks_[id].previous;
    if (before != kNoBlock && blocks_[before].is_idle()) id = before;
    if (has_room(id, request.size)) return id;
  }
  return new_reserve(request);
}

BlockId CachingAllocator::new_reserve(const Request& request) {
  const std::int64_t device = std::min(options_.address_bytes, kMostDeviceBytes);
  const std::int64_t page =
      is_small(request.pool) ? kSmallSegment : options_.settings.large_segment_bytes;
  const std::int64_t reserve = rounded_up(device + device / 8, page);
  if (request.size > reserve) return kNoBlock;
  Block block = first_block(add_segment(reserve, page), request);
  block.is_mapped = false;
  block.is_expandable = true;
  const BlockId id = blocks_.add(block);
  put_unmapped(id);
  return id;
}

BlockId CachingAllocator::extend(const Request& request) {
  BlockId id = extendable(request);
  if (id == kNoBlock) return kNoBlock;
  if (!blocks_[id].is_mapped && !map(id, std::min(blocks_[id].size, request.size))) return kNoBlock;
  while (blocks_[id].size < request.size) {
    const BlockId next = blocks_[id].next;
    const std::int64_t missing = request.size - blocks_[id].size;
    if (!map(next, std::min(missing, blocks_[next].size))) return kNoBlock;
    id = next;
  }
  take_free(id);
  return id;
}

// Gives memory to the first pages of a block without; it becomes free, and joins its neighbours.
bool CachingAllocator::map(BlockId id, std::int64_t bytes) {
  const std::int64_t mapped = rounded_up(bytes, segments_[blocks_[id].segment].page);
  if (!has_on_device(mapped)) return false;
  take_unmapped(id);
  if (mapped < blocks_[id].size) {
    Block rest = blocks_[id];
    rest.address += mapped;
    rest.size -= mapped;
    rest.previous = id;
    const BlockId made = blocks_.add(rest);
    if (rest.next != kNoBlock) blocks_[rest.next].previous = made;
    blocks_[id].next = made;
    blocks_[id].size = mapped;
    put_unmapped(made);
  }
  const std::int64_t address = blocks_[id].address;
  blocks_[id].is_mapped = true;
  join(id, blocks_[id].previous);
  join(id, blocks_[id].next);
  put_free(id);
  add_reserved(blocks_[id].pool, mapped);
  ++counters_.device_allocs;
  tell(SegmentAction::Map, address, mapped, blocks_[id].stream);
  return true;
}

// A free piece of a block beside the pages that lose their memory.
BlockId CachingAllocator::cut_free(BlockId from, std::int64_t address, std::int64_t bytes) {
  Block piece = blocks_[from];
  piece.address = address;
  piece.size = bytes;
  const bool is_before = address == blocks_[from].address;
  if (is_before) piece.next = from;
  else piece.previous = from;
  const BlockId made = blocks_.add(piece);
  if (is_before) {
    if (piece.previous != kNoBlock) blocks_[piece.previous].next = made;
    blocks_[from].previous = made;
  } else {
    if (piece.next != kNoBlock) blocks_[piece.next].previous = made;
    blocks_[from].next = made;
  }
  put_free(made);
  return made;
}

// The whole pages inside a free block go back to the device, and what is left of a segment without
// memory goes as well.
void CachingAllocator::unmap(BlockId id) {
  const Block block = blocks_[id];
  const std::int64_t base = segments_[block.segment].address, page = segments_[block.segment].page;
  const std::int64_t end = block.address + block.size;
  const std::int64_t first = base + rounded_up(block.address - base, page);
  const std::int64_t last = base + (end - base) / page * page;
  if (first >= last) return;
  take_free(id);
  if (first > block.address) cut_free(id, block.address, first - block.address);
  if (end > last) cut_free(id, last, end - last);
  blocks_[id].address = first;
  blocks_[id].size = last - first;
  blocks_[id].is_mapped = false;
  join(id, blocks_[id].previous);
  join(id, blocks_[id].next);
  put_unmapped(id);
  remove_reserved(block.pool, last - first);
  ++counters_.device_frees;
  tell(SegmentAction::Unmap, first, last - first, block.stream);
  if (blocks_[id].is_split()) return;
  take_unmapped(id);
  remove_segment(block.segment);
  blocks_.remove(id);
}

}  // namespace tidemark
