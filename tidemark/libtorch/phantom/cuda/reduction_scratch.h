// What a reduction takes on CUDA where several blocks of threads share a result, told from its
// sides.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "tidemark/libtorch/phantom/cuda/scratch_bytes.h"

namespace tidemark::phantom {

// A dimension, counted in elements.
struct Side {
  std::int64_t size = 1, stride = 0;
};

struct Sides {
  static constexpr std::size_t kMost = 12;
  std::array<Side, kMost> list{};
  std::size_t count = 0;

  void add(Side side) { list[count++] = side; }
  std::int64_t elements() const;
};

struct Reduction {
  Sides summed;
  Sides kept;  // the last dimension first, as the result lies
  std::int64_t offset = 0;
  std::int64_t item_bytes = 4, accumulator_bytes = 4;
  std::int64_t inputs_of_load = 4;  // of those that lie side by side
  std::int64_t multiprocessors = 132, threads_of_multiprocessor = 2048;
};

// Partial sums and one counter for each group of blocks.
Scratch reduction_scratch(Reduction reduction);

}  // namespace tidemark::phantom
