// How a block of host memory that was never filled would have been: the operators, to be run later.
//
// A program is a list from its last step back to its first. It never changes, so whoever needs the
// contents of a moment keeps the step of that moment.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <c10/util/SmallVector.h>

#include <memory>
#include <vector>

#include "tidemark/engine/base/ids.h"
#include "tidemark/libtorch/phantom/values/random_draws.h"

namespace tidemark::phantom {

struct Step;
using Program = std::shared_ptr<const Step>;  // null: zeros

// A tensor over a block, without the block.
struct Layout {
  at::ScalarType dtype = at::kFloat;
  c10::SmallVector<std::int64_t, 4> sizes, strides;
  std::int64_t offset = 0;  // in elements

  static Layout of(const at::Tensor& tensor);
  at::Tensor over(void* block) const;
};

// What was in a block when it was copied from.
struct Contents {
  Program program;
  std::size_t bytes = 0;  // of the block
  Layout layout;
};

struct Step {
  c10::OperatorHandle op;
  Layout target;                              // its first argument
  std::vector<c10::IValue> others;            // all other arguments
  std::shared_ptr<const at::mt19937> random;  // what it draws from, if it does
  std::unique_ptr<const Contents> source;     // the second argument of a copy
  Program before;
  StackId line;            // of the program that runs
  std::size_t length = 1;  // with all that it needs
};

// A program that is longer is run at once.
inline constexpr std::size_t kLongestProgram = 64;
std::size_t length_of(const Program& program);

// Runs the steps on a block of zeros.
void replay(const Program& program, void* block);

}  // namespace tidemark::phantom
