// Matrix products by group, as mixtures of experts use them, in every dtype CUDA takes.
#pragma once

#include "tidemark/libtorch/phantom/kernel/call_frame.h"

namespace tidemark::phantom {

// The meta kernel knows bfloat16 alone; others are answered here.
bool answer_grouped_matmul(CallFrame& frame);

}  // namespace tidemark::phantom
