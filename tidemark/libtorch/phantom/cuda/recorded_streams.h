// Tensor.record_stream on phantoms: their block waits for that stream when they die.
#pragma once

#include "tidemark/libtorch/phantom/kernel/call_frame.h"

namespace tidemark::phantom {

bool record_stream(CallFrame& frame);

}  // namespace tidemark::phantom
