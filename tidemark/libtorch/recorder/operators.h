// The borders of the operators a program calls, as PyTorch records them: exact, but every operator
// pays. For programs whose dispatch state does not tell (see dispatch_state.h) and for fake ones.
//
// A border is an operator as it looks below autograd: operators that only call others (composite,
// or waiting for autocast) are none, and neither is what a kernel calls inside.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>

namespace tidemark::recorder {

// Composite: autograd sees what it calls, not it.
bool only_calls_others(const c10::OperatorHandle& op);

// Whether this thread makes fake tensors.
bool fake_mode_is_on();

// `outputs`: also looks at what each operator returns, for those who want outputs (which storages
// it returns, and on which device: the allocator of fake tensors does not know) or origins (as
// what).
void watch_operators(bool outputs);
void unwatch_operators();

}  // namespace tidemark::recorder
