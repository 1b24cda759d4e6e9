// Operators without a meta kernel: the CPU's own kernel tells the shapes.
#pragma once

#include "tidemark/libtorch/phantom/kernel/call_frame.h"

namespace tidemark::phantom {

// Runs the operator on real CPU tensors of the same shapes, zeros where values are not known, and
// turns what comes back into phantoms. The frame has its phantoms as arguments. Throws, naming
// operator and source line, where there is no CPU kernel or the arguments are too large for it.
void ask_cpu_for_shapes(CallFrame& frame);
// Throws, naming both, for a result that no phantom can be: in compressed rows, or quantized.
void check_is_plain(const at::Tensor& result, const CallFrame& frame);
// The same for an operator that is known to make such results.
bool refuse_layout(CallFrame& frame);

}  // namespace tidemark::phantom
