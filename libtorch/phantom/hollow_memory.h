// Large CPU tensors that cost no memory: their pages are never touched.
#pragma once

#include <ATen/core/Tensor.h>

namespace tidemark::phantom {

// Float storages on the CPU from this size on are hollow while a session is open.
inline constexpr std::int64_t kHollowBytes = std::int64_t{1} << 20;

// A large floating-point CPU tensor: its values are not kept.
bool is_hollow(const at::Tensor& tensor);

}  // namespace tidemark::phantom
