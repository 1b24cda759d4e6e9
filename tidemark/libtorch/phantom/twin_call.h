// The slow way to an operator's shapes: run it on meta twins of its phantoms.
#pragma once

#include "tidemark/libtorch/phantom/call_frame.h"

namespace tidemark::phantom {

// Replaces the frame's arguments by results; new storages are born at `place`. What the meta
// kernel allocates and frees inside does not count.
void call_on_twins(CallFrame& frame, const Place& place);

}  // namespace tidemark::phantom
