// What the allocator holds, segment by segment.
#include <algorithm>

#include "tidemark/engine/allocator/caching_allocator.h"

namespace tidemark {

std::vector<SegmentFacts> CachingAllocator::snapshot() const {
  std::vector<SegmentFacts> all;
  for (BlockId head = 0; head < blocks_.size(); ++head) {
    const Block& first = blocks_[head];
    const bool is_inside = first.previous != kNoBlock && blocks_[first.previous].is_mapped;
    if (first.size == 0 || !first.is_mapped || is_inside) continue;
    SegmentFacts facts;
    facts.address = first.address;
    facts.stream = first.stream;
    facts.pool = first.pool / 2;
    facts.is_small = is_small(first.pool);
    facts.is_expandable = first.is_expandable;
    for (BlockId id = head; id != kNoBlock && blocks_[id].is_mapped; id = blocks_[id].next) {
      const Block& block = blocks_[id];
      facts.blocks.push_back(
          {block.address, block.size, block.requested, block.is_allocated, !block.is_idle()});
      facts.size += block.size;
    }
    all.push_back(std::move(facts));
  }
  std::sort(all.begin(), all.end(),
            [](const SegmentFacts& a, const SegmentFacts& b) { return a.address < b.address; });
  return all;
}

}  // namespace tidemark
