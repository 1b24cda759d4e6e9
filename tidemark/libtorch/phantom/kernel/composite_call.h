// Operators that read values of CPU tensors: run by their own composite kernel, part by part.
#pragma once

#include "tidemark/libtorch/phantom/kernel/call_frame.h"

namespace tidemark::phantom {

bool has_parts(const c10::OperatorHandle& op);
// Calls the kernel that is made of other operators; those come to us one by one.
bool run_parts(CallFrame& frame);
// The same for operators whose one kernel, made of others, is registered for CPU and CUDA alike.
bool run_shared_kernel(CallFrame& frame);

}  // namespace tidemark::phantom
