// One block of a segment, and the table that all of them stand in.
#pragma once

#include <cstdint>
#include <vector>

namespace tidemark {

using BlockId = std::uint32_t;
inline constexpr BlockId kNoBlock = UINT32_MAX;

struct Block {
  std::int64_t size = 0, address = 0;
  // Its place among the free blocks, while it is one: free_blocks.h.
  std::uint64_t tie = 0;  // of equal sizes the lowest comes first
  BlockId before = kNoBlock, after = kNoBlock;

  BlockId previous = kNoBlock, next = kNoBlock;  // neighbours in its segment
  std::int64_t requested = 0;
  std::int64_t cached_at = 0;  // searches of its pool when it became free
  std::uint32_t segment = 0;
  std::uint32_t pool = 0;
  std::uint32_t stream = 0;
  std::uint32_t events = 0;  // of other streams that have not passed yet
  bool is_allocated = false;
  bool is_used_elsewhere = false;  // by streams that record_stream has named
  bool is_mapped = true;           // false: address space of an expandable segment, no memory
  bool is_expandable = false;

  bool is_split() const { return previous != kNoBlock || next != kNoBlock; }
  // Neither in use nor waiting for another stream; may still have no memory.
  bool is_idle() const { return !is_allocated && events == 0 && !is_used_elsewhere; }
};

// Places are used again, so that a run makes no more of them than it has blocks at once.
class BlockTable {
 public:
  Block& operator[](BlockId id) { return blocks_[id]; }
  const Block& operator[](BlockId id) const { return blocks_[id]; }
  // Past every number that was handed out.
  std::size_t size() const { return blocks_.size(); }

  BlockId add(const Block& block) {
    if (first_unused_ == kNoBlock) [[unlikely]] {
      blocks_.push_back(block);
      return static_cast<BlockId>(blocks_.size() - 1);
    }
    const BlockId id = first_unused_;
    first_unused_ = blocks_[id].next;
    blocks_[id] = block;
    return id;
  }
  // Its size is 0 from now on.
  void remove(BlockId id) {
    blocks_[id].size = 0;
    blocks_[id].next = first_unused_;
    first_unused_ = id;
  }

 private:
  std::vector<Block> blocks_;
  BlockId first_unused_ = kNoBlock;  // the others follow as its next ones
};

}  // namespace tidemark
