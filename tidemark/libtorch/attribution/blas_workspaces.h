// How much memory cuBLAS and cuBLASLt keep for one handle on one stream, as PyTorch chooses it.
#pragma once

#include <cstdint>
#include <string_view>

namespace tidemark::attribution {

// By the compute capability and CUBLAS_WORKSPACE_CONFIG or CUBLASLT_WORKSPACE_SIZE; an empty text
// for one that is not set or that says nothing.
std::int64_t blas_workspace_bytes(int capability_major, std::string_view setting);
std::int64_t blas_lt_workspace_bytes(std::string_view setting);

}  // namespace tidemark::attribution
