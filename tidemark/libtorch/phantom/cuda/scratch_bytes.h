// Arithmetic of the rules for scratch memory.
#pragma once

#include <c10/util/SmallVector.h>

#include <cstddef>
#include <cstdint>

namespace tidemark::phantom {

inline std::int64_t parts(std::int64_t whole, std::int64_t part) {
  return (whole + part - 1) / part;
}

// What the allocator gives for one tensor.
inline std::int64_t in_blocks(std::int64_t bytes) { return parts(bytes, 512) * 512; }

// Amounts that a call takes one after the other and holds to its end. Each summand is one.
class Scratch {
 public:
  Scratch(std::int64_t bytes) {  // NOLINT(google-explicit-constructor): a number is one amount
    if (bytes > 0) amounts_.push_back(bytes);
  }

  // The same amount several times.
  static Scratch times(std::int64_t count, std::int64_t bytes) {
    Scratch all(0);
    for (; count > 0; --count) all = all + bytes;
    return all;
  }
  friend Scratch operator+(Scratch before, const Scratch& after) {
    before.amounts_.append(after.amounts_.begin(), after.amounts_.end());
    return before;
  }
  // Results are born when these are there, and `rest` is taken after that. Else they come first.
  Scratch then_results(const Scratch& rest) const {
    Scratch all = *this + rest;
    all.before_results_ = amounts_.size();
    return all;
  }

  const c10::SmallVector<std::int64_t, 4>& amounts() const { return amounts_; }
  std::size_t before_results() const { return before_results_; }

 private:
  c10::SmallVector<std::int64_t, 4> amounts_;
  std::size_t before_results_ = 0;
};

}  // namespace tidemark::phantom
