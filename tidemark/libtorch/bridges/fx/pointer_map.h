// Pointers to small numbers: a flat table, for one lookup per node and edge of a graph.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

namespace tidemark::fx {

// Keys are a pointer and a tag, such as a device; a null pointer is no key.
class PointerMap {
 public:
  static constexpr std::uint32_t kNone = UINT32_MAX;

  explicit PointerMap(std::size_t expected = 8)
      : cells_(std::bit_ceil(2 * expected + 8)), mask_(cells_.size() - 1) {}

  std::uint32_t find(const void* key, std::uint32_t tag = 0) const {
    const Cell& cell = cells_[place(key, tag)];
    return cell.key ? cell.value : kNone;
  }
  // The value of the key; a new key gets `value`, a known one keeps its own.
  std::uint32_t add(const void* key, std::uint32_t tag, std::uint32_t value) {
    if (2 * size_ >= cells_.size()) grow();
    Cell& cell = cells_[place(key, tag)];
    if (!cell.key) cell = {key, tag, value}, ++size_;
    return cell.value;
  }
  void set(const void* key, std::uint32_t value) {
    add(key, 0, value);
    cells_[place(key, 0)].value = value;
  }

 private:
  struct Cell {
    const void* key = nullptr;
    std::uint32_t tag = 0, value = 0;
  };

  std::size_t place(const void* key, std::uint32_t tag) const {
    const auto bits = (reinterpret_cast<std::uintptr_t>(key) >> 4) + tag;
    std::size_t at = (bits * 0x9E3779B97F4A7C15ull >> 20) & mask_;
    while (cells_[at].key && (cells_[at].key != key || cells_[at].tag != tag))
      at = (at + 1) & mask_;
    return at;
  }
  void grow() {
    std::vector<Cell> old(2 * cells_.size());
    old.swap(cells_);
    mask_ = cells_.size() - 1;
    for (const Cell& cell : old)
      if (cell.key) cells_[place(cell.key, cell.tag)] = cell;
  }

  std::vector<Cell> cells_;
  std::size_t mask_, size_ = 0;
};

}  // namespace tidemark::fx
