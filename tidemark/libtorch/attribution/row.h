// Bytes of one device by category, as a tracker's scheme has them.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "tidemark/libtorch/attribution/scheme.h"

namespace tidemark::attribution {

struct Row {
  std::array<std::int64_t, kMostInRow> bytes{};  // by slot of the scheme
  std::int64_t total = 0;

  void add(std::size_t slot, std::int64_t change) {
    bytes[slot] += change;
    total += change;
  }
  void move(std::size_t from, std::size_t to, std::int64_t amount) {
    bytes[from] -= amount;
    bytes[to] += amount;
  }
};

// One row per device number; a device with nothing on it has an empty row. Programs use one or two
// devices, and rows are copied at every border of a module, so two rows need no allocation.
class Rows {
 public:
  std::size_t size() const { return size_; }
  Row& operator[](std::size_t device) {
    return device < kInside ? inside_[device] : more_[device - kInside];
  }
  const Row& operator[](std::size_t device) const {
    return device < kInside ? inside_[device] : more_[device - kInside];
  }
  void resize(std::size_t size) {
    if (size > kInside) more_.resize(size - kInside);
    size_ = size;
  }

 private:
  static constexpr std::size_t kInside = 2;
  std::array<Row, kInside> inside_{};
  std::vector<Row> more_;
  std::size_t size_ = 0;
};

}  // namespace tidemark::attribution
