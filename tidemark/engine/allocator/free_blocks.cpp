// Searches, inserts and erases in bins of trees.
#include "tidemark/engine/allocator/free_blocks.h"

namespace tidemark {
namespace {

// Numbers are mixed, for blocks that are free together are often numbered evenly. No two are equal.
std::uint32_t rank_of(BlockId id) {
  const std::uint32_t mixed = id * 0x9E3779B1u;
  return (mixed ^ mixed >> 15) * 0x85EBCA77u;
}

bool comes_before(BlockId one, BlockId other, const BlockTable& blocks) {
  const Block &a = blocks[one], &b = blocks[other];
  if (a.size != b.size) return a.size < b.size;
  return a.tie != b.tie ? a.tie < b.tie : one < other;
}

// The first block of a tree for which `is_far_enough`, which holds from some block on.
template <class IsFarEnough>
BlockId first_in(BlockId root, const BlockTable& blocks, IsFarEnough&& is_far_enough) {
  BlockId found = kNoBlock;
  for (BlockId id = root; id != kNoBlock;) {
    if (is_far_enough(id)) found = id;
    id = found == id ? blocks[id].before : blocks[id].after;
  }
  return found;
}

// Hangs the blocks of a tree below a new one, on either side.
void hang_below(BlockId id, BlockId tree, BlockTable& blocks) {
  BlockId *before = &blocks[id].before, *after = &blocks[id].after;
  while (tree != kNoBlock) {
    const bool is_before = comes_before(tree, id, blocks);
    BlockId*& end = is_before ? before : after;
    *end = tree;
    end = is_before ? &blocks[tree].after : &blocks[tree].before;
    tree = *end;
  }
  *before = *after = kNoBlock;
}

// A new block in a tree that has some.
void put_into(BlockId* root, BlockId id, BlockTable& blocks) {
  BlockId* place = root;
  while (*place != kNoBlock && rank_of(*place) > rank_of(id))
    place = comes_before(id, *place, blocks) ? &blocks[*place].before : &blocks[*place].after;
  const BlockId below = *place;
  *place = id;
  hang_below(id, below, blocks);
}

// Puts two trees, of which one comes before the other, into one place.
void put_both(BlockId before, BlockId after, BlockId* place, BlockTable& blocks) {
  while (before != kNoBlock && after != kNoBlock) {
    const bool is_before_above = rank_of(before) > rank_of(after);
    BlockId& above = is_before_above ? before : after;
    *place = above;
    place = is_before_above ? &blocks[above].after : &blocks[above].before;
    above = *place;
  }
  *place = before != kNoBlock ? before : after;
}

}  // namespace

void FreeBlocks::insert(BlockId id, BlockTable& blocks) {
  if (roots_.empty()) [[unlikely]]
    roots_.resize(kBins, kNoBlock);
  Block& block = blocks[id];
  const std::uint32_t bin = bin_of(block.size);
  if (is_used(bin)) return put_into(&roots_[bin], id, blocks);
  used_[bin / 64] |= std::uint64_t{1} << (bin % 64);
  roots_[bin] = id;
  block.before = block.after = kNoBlock;
}

void FreeBlocks::erase(BlockId id, BlockTable& blocks) {
  const std::uint32_t bin = bin_of(blocks[id].size);
  BlockId* place = &roots_[bin];
  while (*place != id)
    place = comes_before(id, *place, blocks) ? &blocks[*place].before : &blocks[*place].after;
  put_both(blocks[id].before, blocks[id].after, place, blocks);
  if (roots_[bin] == kNoBlock) used_[bin / 64] &= ~(std::uint64_t{1} << (bin % 64));
}

BlockId FreeBlocks::find(std::int64_t size, const BlockTable& blocks) const {
  const std::uint32_t bin = bin_of(size);
  if (is_used(bin)) {
    const BlockId found =
        first_in(roots_[bin], blocks, [&](BlockId id) { return blocks[id].size >= size; });
    if (found != kNoBlock) return found;
  }
  return first_past(bin, blocks);
}

BlockId FreeBlocks::next(BlockId last, const BlockTable& blocks) const {
  const std::uint32_t bin = bin_of(blocks[last].size);
  const BlockId found =
      first_in(roots_[bin], blocks, [&](BlockId id) { return comes_before(last, id, blocks); });
  return found != kNoBlock ? found : first_past(bin, blocks);
}

// The smallest block of the bins above.
BlockId FreeBlocks::first_past(std::uint32_t bin, const BlockTable& blocks) const {
  std::size_t word = bin / 64;
  std::uint64_t bits = used_[word] & ~std::uint64_t{1} << (bin % 64);
  while (bits == 0) {
    if (++word == used_.size()) return kNoBlock;
    bits = used_[word];
  }
  BlockId id = roots_[64 * word + static_cast<std::uint32_t>(std::countr_zero(bits))];
  while (blocks[id].before != kNoBlock) id = blocks[id].before;
  return id;
}

}  // namespace tidemark
