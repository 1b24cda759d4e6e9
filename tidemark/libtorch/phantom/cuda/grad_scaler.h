// torch.amp.GradScaler on phantoms: whether a step is taken hangs on a value.
#pragma once

#include "tidemark/libtorch/phantom/kernel/call_frame.h"

namespace tidemark::phantom {

// Unscales gradients; none is taken to have overflowed, so that no step is skipped.
bool unscale_gradients(CallFrame& frame);

}  // namespace tidemark::phantom
