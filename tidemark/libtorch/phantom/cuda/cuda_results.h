// Where CUDA's results differ from what meta kernels say: layouts of convolutions, room of losses.
#pragma once

#include "tidemark/libtorch/phantom/kernel/call_frame.h"

namespace tidemark::phantom {

// Corrects the meta results in the frame, before they become phantoms.
void correct_results(CallFrame& frame, const std::vector<c10::IValue>& args);

}  // namespace tidemark::phantom
