// Random numbers of our own, for as long as an operator runs on the CPU in place of a GPU.
#pragma once

#include <ATen/CPUGeneratorImpl.h>

#include <optional>

namespace tidemark::phantom {

// All that the next draw of the CPU's generator hangs on.
struct RandomState {
  at::mt19937 engine;
  std::optional<float> next_float_normal;
  std::optional<double> next_double_normal;
};

// Swaps the state of the CPU's generator: what a program draws on the GPU must not move what it
// draws on the CPU.
class OwnRandomness {
 public:
  OwnRandomness();
  ~OwnRandomness();
  OwnRandomness(const OwnRandomness&) = delete;
  OwnRandomness& operator=(const OwnRandomness&) = delete;

 private:
  RandomState theirs_;
};

// The same numbers again, for the next run.
void reset_own_randomness();

}  // namespace tidemark::phantom
