// Where this thread is in the user's program: source line, module, inside a backward or not.
#pragma once

#include <ATen/core/Tensor.h>

#include "tidemark/libtorch/phantom/log/storage_log.h"

namespace tidemark::phantom {

// Finds the source line of the running program; set by the Python side, called on any thread.
// Returns an empty id where there is none (a thread without Python code).
using FindSource = StackId (*)(StorageLog& log);
void set_source_finder(FindSource find);
// The line this thread is at; an empty id where there is none.
StackId find_source(StorageLog& log);

// Called once an operator, before its results are made.
Whence find_whence(StorageLog& log, bool needs_grad);
// Autograd is giving a leaf its gradient: the results are it.
inline bool makes_gradient(const Whence& whence) {
  return (whence.flags & attribution::kOfGradient) != 0;
}
// The leaf that autograd is giving its gradient to on this thread; undefined where it does not.
at::Tensor leaf_of_gradient();
void forget_forwards();

}  // namespace tidemark::phantom
