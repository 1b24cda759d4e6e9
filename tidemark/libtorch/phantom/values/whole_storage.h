// Is a tensor all of its storage?
#pragma once

#include <ATen/core/Tensor.h>

namespace tidemark::phantom {

inline bool covers_storage(const at::Tensor& tensor) {
  return tensor.is_non_overlapping_and_dense() &&
         tensor.numel() * static_cast<std::int64_t>(tensor.itemsize()) ==
             static_cast<std::int64_t>(tensor.storage().nbytes());
}

}  // namespace tidemark::phantom
