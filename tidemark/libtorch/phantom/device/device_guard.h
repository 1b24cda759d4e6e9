// The device guard of the virtual GPUs: what autograd, streams and events ask.
#pragma once

namespace tidemark::phantom {

// Puts our guard in the place of CUDA's, and back. Not for several threads at once.
void install_device_guard();
void remove_device_guard();

// Whether streams say that a CUDA graph is being captured.
void set_capturing(bool is_capturing);
bool is_capturing();

}  // namespace tidemark::phantom
