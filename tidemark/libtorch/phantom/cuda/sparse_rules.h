// What operators that read sparse values return, without reading any.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/boxing/KernelFunction.h>
#include <ATen/core/operator_name.h>
#include <c10/core/DispatchKey.h>
#include <c10/core/Scalar.h>

#include <functional>

namespace tidemark::phantom {

using PutRule =
    std::function<void(const c10::OperatorName&, c10::DispatchKey, c10::KernelFunction)>;

// Coordinates (COO), and compressed rows or columns (CSR, CSC).
void put_coordinate_rules(const PutRule& put);
void put_compressed_rules(const PutRule& put);

// A sparse matrix times a dense one, as addmm() into `out`: a dense one.
at::Tensor& product_out(const at::Tensor& self, const at::Tensor& first, const at::Tensor& second,
                        const at::Scalar& beta, const at::Scalar& alpha, at::Tensor& out);

}  // namespace tidemark::phantom
