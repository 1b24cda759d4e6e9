// What PyTorch asks CUDA about itself, answered by the virtual GPUs.
#pragma once

namespace tidemark::phantom {

// To be called before torch is imported: PyTorch makes its hooks object on the first question.
void register_cuda_hooks();

}  // namespace tidemark::phantom
