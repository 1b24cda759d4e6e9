// The slow way to an operator's shapes: run it on meta twins of its phantoms.
#pragma once

#include <cstdint>
#include <functional>

#include "tidemark/libtorch/phantom/cuda/workspaces.h"
#include "tidemark/libtorch/phantom/kernel/call_frame.h"

namespace tidemark::phantom {

enum class TwinAnswer : std::uint8_t {
  Results,
  HasParts,  // nobody told its shapes: the frame has its arguments, and its parts may run
};

// Replaces the frame's arguments by results; new storages are born where this thread is. What the
// meta kernel allocates and frees inside does not count. `name_call` is told when the results'
// shapes are known and none of them is born yet: it may name the call. Workspaces are taken as the
// results are born.
TwinAnswer call_on_twins(CallFrame& frame, const Workspaces& workspaces,
                         const std::function<void()>& name_call);

}  // namespace tidemark::phantom
