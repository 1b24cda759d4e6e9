// Matrices that cuBLAS cannot read as they lie: a product copies them, and holds the copies to its
// end.
#pragma once

#include <ATen/core/Tensor.h>

#include "tidemark/libtorch/phantom/cuda/pieces.h"

namespace tidemark::phantom {

// Of a product of two matrices, or of a batch of them each. Nothing where both are read as they
// are.
Pieces copies_in_product(const at::Tensor& left, const at::Tensor& right);
Pieces copies_in_batched_product(const at::Tensor& left, const at::Tensor& right);

}  // namespace tidemark::phantom
