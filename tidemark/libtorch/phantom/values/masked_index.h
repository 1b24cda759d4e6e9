// Boolean masks as indices: CUDA turns them into positions first, and so do we.
#pragma once

#include "tidemark/libtorch/phantom/kernel/call_frame.h"

namespace tidemark::phantom {

// Replaces the masks among a call's indices by the positions they select; the call itself then
// goes the common way.
bool expand_masks(CallFrame& frame);

}  // namespace tidemark::phantom
