// The free blocks of one pool and stream, by size and then by tie: the order of best fit.
//
// A run has a few hundred of them, and some programs a hundred thousand of one size. They stand in
// bins, sixty-four for each power of two, and those of one bin in a binary tree:
//
//   bins      512 | 1024 | .... | 64-65 KiB | 65-66 KiB | ....
//   trees      a                     f
//             / .                     .
//            b   c                     g
//
// Most trees have one block or two, so that a search is a look at bits that say which bins are
// used. Whoever stands above in a tree has the higher rank; ranks are as good as random, which
// keeps large trees flat. The links of the trees stand in the blocks.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <vector>

#include "tidemark/engine/allocator/block.h"

namespace tidemark {

class FreeBlocks {
 public:
  // The block's size and tie stay as they are until it is erased.
  void insert(BlockId id, BlockTable& blocks);
  void erase(BlockId id, BlockTable& blocks);

  // The first that is not smaller; kNoBlock where there is none.
  BlockId find(std::int64_t size, const BlockTable& blocks) const;
  BlockId next(BlockId id, const BlockTable& blocks) const;

  // From the smallest up; nobody may change the set meanwhile.
  template <class Visit>
  void for_each(const BlockTable& blocks, Visit&& visit) const {
    for (BlockId id = find(0, blocks); id != kNoBlock; id = next(id, blocks)) visit(id);
  }

 private:
  // Bytes of 512 by 512, with six binary digits after the first.
  static std::uint32_t bin_of(std::int64_t size) {
    const std::uint64_t units = static_cast<std::uint64_t>(size) >> 9;
    const auto dropped = static_cast<std::uint32_t>(std::bit_width(units | 64)) - 7;
    return 64 * dropped + static_cast<std::uint32_t>(units >> dropped);
  }
  static constexpr std::uint32_t kBins = 3136;  // the largest size has the last

  bool is_used(std::uint32_t bin) const { return used_[bin / 64] >> (bin % 64) & 1; }
  BlockId first_past(std::uint32_t bin, const BlockTable& blocks) const;

  std::array<std::uint64_t, kBins / 64> used_{};  // a bit for each bin
  std::vector<BlockId> roots_;                    // by bin; none before the first block
};

}  // namespace tidemark
