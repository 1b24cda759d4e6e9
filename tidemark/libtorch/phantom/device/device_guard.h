// The device guard of the virtual GPUs: what autograd, streams and events ask.
#pragma once

namespace tidemark::phantom {

// Puts our guard in the place of CUDA's, and back. Not for several threads at once.
void install_device_guard();
void remove_device_guard();

}  // namespace tidemark::phantom
