// What cuBLAS keeps from its first product on: memory for each of its handles on each stream.
//
// A thread has a handle of its own, so the forward and the backward of a training step keep one
// workspace each. A thread that ends leaves its handle to the next one that asks.
#pragma once

#include <c10/core/Device.h>

#include <cstdint>

#include "tidemark/libtorch/attribution/blas_workspaces.h"

namespace tidemark::phantom {

enum class MatmulLibrary : std::uint8_t {
  None,
  Blas,
  BlasLt,  // keeps one of its own beside that of cuBLAS, whose handle it asks for, too
};

// Takes the workspace of this thread's handle on its current stream, unless it has it already, or
// CUDA's choices are not followed.
void keep_matmul_workspace(c10::DeviceIndex device, MatmulLibrary library);
// Whether one was asked for in this run, so that cuBLAS would be loaded.
bool has_used_matmul();
// As torch._C._cuda_clearCublasWorkspaces() does; products to come take new ones.
void drop_matmul_workspaces();

using attribution::blas_lt_workspace_bytes;
using attribution::blas_workspace_bytes;

}  // namespace tidemark::phantom
