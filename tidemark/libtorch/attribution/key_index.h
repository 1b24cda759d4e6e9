// Finds the record of a storage by the address its allocator knows it by.
//
// Open addressing with backward shifting: an erase leaves no gravestone, so that a run of any
// length stays as fast as its first step.
#pragma once

#include <cstdint>
#include <vector>

namespace tidemark::attribution {

using StorageKey = std::uint64_t;  // never 0

class KeyIndex {
 public:
  static constexpr std::uint32_t kNone = UINT32_MAX;

  std::size_t size() const { return size_; }

  std::uint32_t find(StorageKey key) const {
    for (std::size_t at = home(key);; at = next(at)) {
      if (cells_[at].key == key) return cells_[at].value;
      if (cells_[at].key == 0) return kNone;
    }
  }

  // A key that is there gets the new value.
  void put(StorageKey key, std::uint32_t value) {
    if (2 * (size_ + 1) > cells_.size()) grow();
    std::size_t at = home(key);
    while (cells_[at].key != 0 && cells_[at].key != key) at = next(at);
    size_ += cells_[at].key == 0;
    cells_[at] = {key, value};
  }

  void erase(StorageKey key) {
    std::size_t hole = home(key);
    while (cells_[hole].key != key) {
      if (cells_[hole].key == 0) return;
      hole = next(hole);
    }
    --size_;
    for (std::size_t at = next(hole); cells_[at].key != 0; at = next(at)) {
      const bool stays = ((at - home(cells_[at].key)) & mask()) < ((at - hole) & mask());
      if (stays) continue;
      cells_[hole] = cells_[at];
      hole = at;
    }
    cells_[hole] = {};
  }

 private:
  struct Cell {
    StorageKey key = 0;
    std::uint32_t value = kNone;
  };

  std::size_t mask() const { return cells_.size() - 1; }
  std::size_t next(std::size_t at) const { return (at + 1) & mask(); }
  std::size_t home(StorageKey key) const {
    return static_cast<std::size_t>((key * 0x9E3779B97F4A7C15ull) >> 20) & mask();
  }
  void grow() {
    std::vector<Cell> old(cells_.size() * 2);
    old.swap(cells_);
    size_ = 0;
    for (const Cell& cell : old)
      if (cell.key != 0) put(cell.key, cell.value);
  }

  std::vector<Cell> cells_ = std::vector<Cell>(64);
  std::size_t size_ = 0;
};

}  // namespace tidemark::attribution
