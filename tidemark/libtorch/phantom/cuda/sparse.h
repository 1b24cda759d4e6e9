// Sparse tensors on virtual GPUs: indices and values are phantoms, the rest is made of those.
#pragma once

#include "tidemark/libtorch/phantom/kernel/call_frame.h"

namespace tidemark::phantom {

// Most operators on sparse tensors are made of others on their indices and values, whatever the
// device: PyTorch's own for the CPU serve. Those that read values have rules here; others, and
// other layouts than COO and compressed rows or columns, raise an error that names operator and
// source line.
void register_sparse_kernels();
void deregister_sparse_kernels();

// The gradient of an EmbeddingBag, where it is sparse.
bool answer_bag_gradient(CallFrame& frame);

}  // namespace tidemark::phantom
