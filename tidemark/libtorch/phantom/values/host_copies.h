// Copies from a phantom to the CPU: the known values, else zeros.
#pragma once

#include "tidemark/libtorch/phantom/kernel/call_frame.h"

namespace tidemark::phantom {

// tensor.cpu(), tensor.to("cpu").
bool copy_to_host(CallFrame& frame);
// cpu_tensor.copy_(phantom).
bool copy_into_host(CallFrame& frame);

}  // namespace tidemark::phantom
