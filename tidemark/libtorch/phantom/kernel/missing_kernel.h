// Operators without a meta kernel: the CPU's own kernel tells the shapes.
#pragma once

#include "tidemark/libtorch/phantom/kernel/call_frame.h"

namespace tidemark::phantom {

// Runs the operator on real CPU tensors of the same shapes, zeros where values are not known, and
// turns what comes back into phantoms. The frame has its phantoms as arguments. Throws, naming
// operator and source line, where there is no CPU kernel or the arguments are too large for it.
void ask_cpu_for_shapes(CallFrame& frame);
// What PyTorch registers where a library gave no fake kernel, or one that needs values, raises an
// error of Python's; whoever raises it says so here first, on the thread of the call.
void tell_fake_missing();
// Was it said on this thread since this was last asked?
bool take_fake_missing();
// Throws, naming both, for a result that no phantom can be: in compressed rows, or quantized.
void check_is_plain(const at::Tensor& result, const CallFrame& frame);
// The same for an operator that is known to make such results.
bool refuse_layout(CallFrame& frame);
bool refuse_nested(CallFrame& frame);

}  // namespace tidemark::phantom
