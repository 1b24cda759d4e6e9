// The slow way to an operator's shapes: run it on meta twins of its phantoms.
#pragma once

#include <functional>

#include "tidemark/libtorch/phantom/kernel/call_frame.h"

namespace tidemark::phantom {

// Replaces the frame's arguments by results; new storages are born where this thread is. What the
// meta kernel allocates and frees inside does not count. `name_call` is told when the results'
// shapes are known and none of them is born yet: it may name the call.
void call_on_twins(CallFrame& frame, const std::function<void()>& name_call);

}  // namespace tidemark::phantom
