// Sparse tensors on virtual GPUs: indices and values are phantoms, the rest is made of those.
#pragma once

namespace tidemark::phantom {

// Most operators on sparse tensors are made of others on their indices and values, whatever the
// device: PyTorch's own for the CPU serve. Those that read values have rules here; others, and
// other layouts than COO, raise an error that names operator and source line.
void register_sparse_kernels();
void deregister_sparse_kernels();

}  // namespace tidemark::phantom
