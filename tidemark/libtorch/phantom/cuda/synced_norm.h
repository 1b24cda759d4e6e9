// The parts of a batch norm over several ranks: kernels that CUDA alone has.
#pragma once

#include "tidemark/libtorch/phantom/kernel/call_frame.h"

namespace tidemark::phantom {

bool answer_norm_statistics(CallFrame& frame);      // of this rank's batch
bool answer_gathered_statistics(CallFrame& frame);  // of all ranks'
bool answer_normalized(CallFrame& frame);
bool answer_norm_gradient_sums(CallFrame& frame);
bool answer_norm_gradient(CallFrame& frame);

}  // namespace tidemark::phantom
