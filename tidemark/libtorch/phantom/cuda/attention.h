// Which attention kernel CUDA would take: flash, memory-efficient, cuDNN or math.
#pragma once

#include "tidemark/libtorch/phantom/kernel/call_frame.h"

namespace tidemark::phantom {

bool answer_attention(CallFrame& frame);

// Lets scaled_dot_product_attention ask us: a CPU build has no chooser for CUDA, and that of a CUDA
// build asks the driver. And back.
void install_attention_choice();
void remove_attention_choice();

}  // namespace tidemark::phantom
