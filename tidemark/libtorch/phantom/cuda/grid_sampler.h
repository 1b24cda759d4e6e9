// cuDNN's sampler of images at the points of a grid, as spatial transformers use it.
#pragma once

#include "tidemark/libtorch/phantom/kernel/call_frame.h"

namespace tidemark::phantom {

bool answer_sampled_image(CallFrame& frame);
bool answer_sampled_image_backward(CallFrame& frame);

}  // namespace tidemark::phantom
