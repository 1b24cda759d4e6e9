// Operators that read values of CPU tensors: run by their own composite kernel, part by part.
#pragma once

#include "tidemark/torch/phantom/call_frame.h"

namespace tidemark::phantom {

// Calls the kernel that is made of other operators; those come to us one by one.
bool run_parts(CallFrame& frame);

}  // namespace tidemark::phantom
