// The highest running sum over many slots, kept while single slots change.
//
// A slot changes the level by `sum` and touches base + `high` on the way; a pair of neighbours is
// again such a slot: sum = left.sum + right.sum, high = max(left.high, left.sum + right.high).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace tidemark {

struct LevelChange {
  std::int64_t sum = 0;
  std::int64_t high = INT64_MIN / 4;  // an empty slot is never the highest
};

class LevelTree {
 public:
  // `capacity` is a power of two.
  explicit LevelTree(std::size_t capacity) : capacity_(capacity), all_(2 * capacity) {}

  const LevelChange& whole() const { return all_[1]; }
  const LevelChange& at(std::size_t slot) const { return all_[capacity_ + slot]; }

  void set(std::size_t slot, LevelChange change) {
    std::size_t i = capacity_ + slot;
    all_[i] = change;
    while (i /= 2) all_[i] = joined(all_[2 * i], all_[2 * i + 1]);
  }
  // Without joining: rebuild afterwards.
  void put(std::size_t slot, LevelChange change) { all_[capacity_ + slot] = change; }
  // Joins again what stands above the slots begin to end - 1.
  void rebuild(std::size_t begin, std::size_t end) {
    for (begin += capacity_, end += capacity_ - 1; begin > 1;) {
      begin /= 2, end /= 2;
      for (std::size_t i = begin; i <= end; ++i) all_[i] = joined(all_[2 * i], all_[2 * i + 1]);
    }
  }

  // What all slots before this one sum to.
  std::int64_t sum_before(std::size_t slot) const {
    std::int64_t sum = 0;
    for (std::size_t i = capacity_ + slot; i > 1; i /= 2)
      if (i % 2) sum += all_[i - 1].sum;
    return sum;
  }
  // The first slot that touches whole().high.
  std::size_t highest() const {
    std::size_t i = 1;
    while (i < capacity_) i = 2 * i + (all_[2 * i].high == all_[i].high ? 0 : 1);
    return i - capacity_;
  }

 private:
  static LevelChange joined(const LevelChange& left, const LevelChange& right) {
    return {left.sum + right.sum, std::max(left.high, left.sum + right.high)};
  }

  std::size_t capacity_;
  std::vector<LevelChange> all_;
};

}  // namespace tidemark
