// Which module runs on this thread: the user's hooks say when a call begins and ends.
#pragma once

#include "tidemark/libtorch/phantom/log/storage_log.h"

namespace tidemark::phantom {

// Whether this thread runs a part of a backward.
bool is_in_backward();
// An outermost module is called: if gradients are recorded, that may begin a training step.
void begin_step_of_module();
// In a backward a forward call is a recomputation.
void begin_module(ScopeId module);
// Ends the newest open call of the module, and those inside it that never ended.
void end_module(ScopeId module);
// The innermost; empty outside of all.
ScopeId current_module();

}  // namespace tidemark::phantom
