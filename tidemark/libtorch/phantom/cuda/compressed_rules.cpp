// Compressed rows and columns: products, and the way from one to the other.
#include <ATen/ATen.h>

#include "tidemark/libtorch/phantom/cuda/sparse_rules.h"
#include "tidemark/libtorch/phantom/values/known_bytes.h"

namespace tidemark::phantom {
namespace {

// Rows that hold column numbers, or columns that hold row numbers.
struct Compressed {
  explicit Compressed(const at::Tensor& tensor)
      : outer(tensor.layout() == at::kSparseCsr ? tensor.crow_indices() : tensor.ccol_indices()),
        inner(tensor.layout() == at::kSparseCsr ? tensor.col_indices() : tensor.row_indices()) {}
  at::Tensor outer, inner;
};

void expect_matrix(const at::Tensor& tensor) {
  TORCH_CHECK_NOT_IMPLEMENTED(
      tensor.dim() == 2 && (tensor.layout() == at::kSparseCsr || tensor.layout() == at::kSparseCsc),
      "of compressed tensors a virtual GPU has rules for matrices of rows or columns (CSR, CSC)");
}

at::Tensor& vector_product_out(const at::Tensor&, const at::Tensor& matrix, const at::Tensor&,
                               const at::Scalar&, const at::Scalar&, at::Tensor& out) {
  out.resize_({matrix.size(0)});
  forget(out);
  return out;
}

at::Tensor like_compressed(const at::Tensor& pattern, at::ScalarType dtype) {
  expect_matrix(pattern);
  const Compressed parts(pattern);
  return at::_sparse_compressed_tensor_unsafe(
      parts.outer.clone(), parts.inner.clone(),
      at::empty_like(pattern.values(), pattern.values().options().dtype(dtype)), pattern.sizes(),
      pattern.options().dtype(dtype));
}

at::Tensor sampled_product(const at::Tensor& self, const at::Tensor&, const at::Tensor&,
                           const at::Scalar&, const at::Scalar&) {
  return like_compressed(self, self.scalar_type());
}

// By a number or a dense tensor: where the sparse one has values.
at::Tensor times(const at::Tensor& self, const at::Tensor& other) {
  const bool is_first = self.layout() != at::kStrided;
  TORCH_CHECK_NOT_IMPLEMENTED((is_first ? other : self).layout() == at::kStrided,
                              "a product of two compressed tensors, value by value, has no rule "
                              "on a virtual GPU (to_dense() makes dense ones)");
  return like_compressed(is_first ? self : other, at::result_type(self, other));
}

// From rows to columns, or back: as many values in another order, which known indices tell.
at::Tensor flipped(const at::Tensor& self, at::Layout layout) {
  expect_matrix(self);
  if (self.layout() == layout) return self.clone();
  const Compressed parts(self);
  const std::int64_t lines = self.size(layout == at::kSparseCsr ? 0 : 1);
  const at::Tensor outer = at::empty({lines + 1}, parts.outer.options());
  const at::Tensor inner = at::empty_like(parts.inner);
  if (has_known_values(parts.outer) && has_known_values(parts.inner)) {
    const at::Tensor host = at::_sparse_compressed_tensor_unsafe(
        known_values(parts.outer), known_values(parts.inner), at::ones({inner.numel()}),
        self.sizes(), at::TensorOptions().layout(self.layout()));
    const Compressed found(host.to_sparse(layout));
    set_known(outer, found.outer.contiguous(), Certainty::Known);
    set_known(inner, found.inner.contiguous(), Certainty::Known);
  }
  return at::_sparse_compressed_tensor_unsafe(outer, inner, at::empty_like(self.values()),
                                              self.sizes(), self.options().layout(layout));
}

at::Tensor to_rows(const at::Tensor& self, std::optional<std::int64_t>) {
  return flipped(self, at::kSparseCsr);
}
at::Tensor to_columns(const at::Tensor& self, std::optional<std::int64_t>) {
  return flipped(self, at::kSparseCsc);
}

template <class Function>
void put_compressed(const PutRule& put, const char* name, const char* overload, Function function) {
  put({name, overload}, c10::DispatchKey::SparseCsrCUDA,
      c10::KernelFunction::makeFromUnboxedFunction(function));
}

}  // namespace

void put_compressed_rules(const PutRule& put) {
  put_compressed(put, "aten::addmm", "out", TORCH_FN(product_out));
  put_compressed(put, "aten::addmv", "out", TORCH_FN(vector_product_out));
  put_compressed(put, "aten::sparse_sampled_addmm", "", TORCH_FN(sampled_product));
  put_compressed(put, "aten::mul", "Tensor", TORCH_FN(times));
  put_compressed(put, "aten::_to_sparse_csr", "", TORCH_FN(to_rows));
  put_compressed(put, "aten::_to_sparse_csc", "", TORCH_FN(to_columns));
}

}  // namespace tidemark::phantom
