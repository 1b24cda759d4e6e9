// Where CUDA's results differ from what meta kernels say: layouts of convolutions, room of losses,
// what attention leaves on the host.
#pragma once

#include <c10/core/MemoryFormat.h>

#include "tidemark/libtorch/phantom/kernel/call_frame.h"

namespace tidemark::phantom {

// How cuDNN lays out what it computes, and so what it reads: planes, or channels last.
at::MemoryFormat convolution_format(const at::Tensor& input, const at::Tensor& weight);

// Corrects the meta results in the frame, before they become phantoms.
void correct_results(CallFrame& frame, const std::vector<c10::IValue>& args);

}  // namespace tidemark::phantom
