// What differs between the versions of PyTorch we build against, in one place.
#pragma once

#include <ATen/core/Tensor.h>
#include <torch/headeronly/version.h>

// The word where PyTorch is 2.13 or newer, nothing where it is older.
#if TORCH_VERSION_MAJOR > 2 || (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR >= 13)
#define TIDEMARK_SINCE_2_13(word) word
#define TIDEMARK_TORCH_2_13 1
#else
#define TIDEMARK_SINCE_2_13(word)
#define TIDEMARK_TORCH_2_13 0
#endif

namespace tidemark::phantom {

// Dimensions have no names any more since 2.13.
inline bool has_names([[maybe_unused]] const at::Tensor& tensor) {
#if TIDEMARK_TORCH_2_13
  return false;
#else
  return tensor.has_names();
#endif
}

}  // namespace tidemark::phantom
