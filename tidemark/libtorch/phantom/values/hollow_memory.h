// Large CPU tensors that cost no memory: model weights that a script builds before it moves them.
//
// While a session is open, large CPU blocks come from an allocator of ours. A float tensor over
// such a block whose values would only be drawn (normal_, zero_, ...) becomes hollow: nothing is
// written, so the system never gives it pages. What is computed from hollow tensors is hollow.
#pragma once

#include <ATen/core/Tensor.h>

namespace tidemark::phantom {

// Blocks from this size on may be hollow.
inline constexpr std::int64_t kHollowBytes = std::int64_t{1} << 20;

// True when the tensor's values were never written.
bool is_hollow(const at::Tensor& tensor);
// True when the tensor could be hollow: float, over a large block of ours.
bool may_be_hollow(const at::Tensor& tensor);
void set_hollow(const at::Tensor& tensor, bool hollow);

void install_hollow_memory();
void remove_hollow_memory();

}  // namespace tidemark::phantom
