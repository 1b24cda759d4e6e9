// An operator call as text: what the tape's calls are named by.
#pragma once

#include <string>

#include "tidemark/libtorch/phantom/kernel/call_frame.h"

namespace tidemark::phantom {

// "(f32[8,16], f32[16,32]{1,16}, 2, None)": strides only where they are not the usual ones.
std::string signature_of(const CallFrame& frame);
// " -> f32[8,32]": the results, once they stand in the frame; nothing where there are none. Sizes
// alone: what a storage holds is asked by its bytes.
std::string results_of(CallFrame& frame);
// "[8, 16]", as PyTorch writes sizes.
std::string text_of(at::IntArrayRef sizes);

}  // namespace tidemark::phantom
