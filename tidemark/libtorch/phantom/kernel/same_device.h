// Refuses what a real device refuses: arguments that live on different devices.
#pragma once

#include <string_view>

#include "tidemark/libtorch/phantom/kernel/call_frame.h"

namespace tidemark::phantom {

// Copies, and operators over lists, which take their tensors one by one.
bool may_mix_devices(std::string_view name);
// Throws as PyTorch does, for tensors of two GPUs; for one of the CPU beside a GPU's where the
// operator is known to refuse that too (some take indices or lengths from the CPU).
void check_devices(const CallFrame& frame);

}  // namespace tidemark::phantom
