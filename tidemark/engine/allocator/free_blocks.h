// The free blocks of one pool and stream, by size and then by place: the order of best fit.
//
// A run has a few hundred of them, and some programs a hundred thousand. They stand in short
// sorted chunks, and a list in front has the first of each:
//
//   fronts   512·a        4096·f         2 MiB·k
//               |            |              |
//   chunks   512 512 1024  4096 4096 ...  2 MiB 6 MiB 20 MiB
//
// A search is two binary ones over neighbouring memory, a change moves at most one chunk.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace tidemark {

using BlockId = std::uint32_t;
inline constexpr BlockId kNoBlock = UINT32_MAX;

// A place in the order.
struct FreeKey {
  std::int64_t size = 0;
  std::uint64_t tie = 0;  // of equal sizes the lowest comes first
  bool operator<(const FreeKey& other) const {
    return size != other.size ? size < other.size : tie < other.tie;
  }
};

class FreeBlocks {
 public:
  struct Position {
    std::size_t chunk = 0;  // in the list in front
    std::uint32_t slot = 0;
  };

  void insert(const FreeKey& key, BlockId block);
  void erase(const FreeKey& key) { erase(find(key)); }
  void erase(Position at);

  // The first that is not smaller; the end where there is none.
  Position find(const FreeKey& key) const;
  bool is_end(Position at) const { return at.chunk == fronts_.size(); }
  Position next(Position at) const;
  BlockId operator[](Position at) const { return chunks_[fronts_[at.chunk].chunk].blocks[at.slot]; }
  bool empty() const { return fronts_.empty(); }

  // From the smallest up; nobody may change the set meanwhile.
  template <class Visit>
  void for_each(Visit&& visit) const {
    for (const Front& front : fronts_) {
      const Chunk& chunk = chunks_[front.chunk];
      for (std::uint32_t i = 0; i < chunk.count; ++i) visit(chunk.blocks[i]);
    }
  }

 private:
  static constexpr std::uint32_t kChunk = 63;  // and one place that ends every search
  static constexpr std::int64_t kPastAll = INT64_MAX;
  // Places past the count have the size kPastAll.
  struct Chunk {
    Chunk() { sizes.fill(kPastAll); }
    FreeKey key(std::uint32_t slot) const { return {sizes[slot], ties[slot]}; }

    std::uint32_t count = 0;
    std::array<std::int64_t, kChunk + 1> sizes;
    std::array<std::uint64_t, kChunk + 1> ties;
    std::array<BlockId, kChunk + 1> blocks;
  };
  struct Front {
    FreeKey first;
    std::uint32_t chunk = 0;
  };

  // The chunk that a key belongs to: the last that does not begin after it.
  std::size_t chunk_of(const FreeKey& key) const;
  static std::uint32_t slot_of(const Chunk& chunk, const FreeKey& key);
  std::uint32_t new_chunk();
  void halve(std::size_t front);

  std::vector<Front> fronts_;
  std::vector<Chunk> chunks_;
  std::vector<std::uint32_t> unused_;  // of the chunks
};

}  // namespace tidemark
