// Where this thread is in the user's program: source line, module, phase, step.
#pragma once

#include "tidemark/libtorch/phantom/log/storage_log.h"

namespace tidemark::phantom {

// Finds the source line of the running program; set by the Python side, called on any thread.
// Returns an empty id where there is none (a thread without Python code).
using FindSource = StackId (*)(StorageLog& log);
void set_source_finder(FindSource find);

struct Whereabouts {
  Place place;
  bool makes_gradient = false;  // autograd is giving a leaf its gradient: the results are it
};
// Called once an operator, before its results are made.
Whereabouts find_whereabouts(StorageLog& log, bool needs_grad);

// What results of such a call are, until somebody says more: activations in a forward, temporaries
// in a backward and in an optimizer's step. What a step makes of nothing, outside of modules, is
// its input.
Category category_of_births(const Whereabouts& here, bool uses_phantoms);

// A training step begins with the first operator, or module call, that records gradients.
void begin_step_if_due(StorageLog& log);
// The optimizer's step begins and ends; the end closes a training step.
void enter_optimizer(StorageLog& log);
void leave_optimizer(StorageLog& log);
// Training steps that an optimizer's step has ended.
std::int64_t steps_done(const StorageLog& log);
void reset_where();

}  // namespace tidemark::phantom
