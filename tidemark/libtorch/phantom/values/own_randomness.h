// Random numbers of our own, for as long as an operator runs on the CPU in place of a GPU.
#pragma once

#include <ATen/core/Generator.h>

namespace tidemark::phantom {

// Swaps the state of the CPU's generator: what a program draws on the GPU must not move what it
// draws on the CPU.
class OwnRandomness {
 public:
  OwnRandomness();
  ~OwnRandomness();
  OwnRandomness(const OwnRandomness&) = delete;
  OwnRandomness& operator=(const OwnRandomness&) = delete;

 private:
  at::Tensor theirs_;
};

// The same numbers again, for the next run.
void reset_own_randomness();

}  // namespace tidemark::phantom
