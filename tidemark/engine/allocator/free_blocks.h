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
#include <compare>
#include <cstdint>
#include <vector>

namespace tidemark {

using BlockId = std::uint32_t;
inline constexpr BlockId kNoBlock = UINT32_MAX;

// A place in the order.
struct FreeKey {
  std::int64_t size = 0;
  std::uint64_t tie = 0;  // of equal sizes the lowest comes first
  auto operator<=>(const FreeKey&) const = default;
};

class FreeBlocks {
 public:
  struct Entry {
    FreeKey key;
    BlockId block = kNoBlock;
  };
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
  BlockId operator[](Position at) const { return entry(at).block; }
  bool empty() const { return fronts_.empty(); }

  // From the smallest up; nobody may change the set meanwhile.
  template <class Visit>
  void for_each(Visit&& visit) const {
    for (const Front& front : fronts_) {
      const Chunk& chunk = chunks_[front.chunk];
      for (std::uint32_t i = 0; i < chunk.count; ++i) visit(chunk.entries[i].block);
    }
  }

 private:
  static constexpr std::uint32_t kChunk = 64;
  struct Chunk {
    std::uint32_t count = 0;
    std::array<Entry, kChunk> entries;
  };
  struct Front {
    FreeKey first;
    std::uint32_t chunk = 0;
  };

  const Entry& entry(Position at) const {
    return chunks_[fronts_[at.chunk].chunk].entries[at.slot];
  }
  // The chunk that a key belongs to: the last that does not begin after it.
  std::size_t chunk_of(const FreeKey& key) const;
  std::uint32_t new_chunk();
  void halve(std::size_t front);

  std::vector<Front> fronts_;
  std::vector<Chunk> chunks_;
  std::vector<std::uint32_t> unused_;  // of the chunks
};

}  // namespace tidemark
