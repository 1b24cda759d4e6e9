// PyTorch's profiler asks CUDA for events around each operator: those of the virtual GPUs.
#pragma once

namespace tidemark::phantom {

void install_profiler_events();
void remove_profiler_events();

}  // namespace tidemark::phantom
