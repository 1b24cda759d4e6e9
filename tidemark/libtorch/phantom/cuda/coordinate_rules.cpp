// Sparse tensors in coordinates: sums, products, softmax. Known indices tell how many values there
// are.
#include <ATen/ATen.h>

#include <vector>

#include "tidemark/libtorch/phantom/cuda/sparse_rules.h"
#include "tidemark/libtorch/phantom/cuda/workspaces.h"
#include "tidemark/libtorch/phantom/kernel/signature.h"
#include "tidemark/libtorch/phantom/log/session.h"
#include "tidemark/libtorch/phantom/values/known_bytes.h"

namespace tidemark::phantom {
namespace {

at::Tensor make_sparse(const at::Tensor& like, const at::Tensor& indices, const at::Tensor& values,
                       bool is_coalesced) {
  return at::_sparse_coo_tensor_with_dims_and_tensors(like.sparse_dim(), like.dense_dim(),
                                                      like.sizes(), indices, values, like.options(),
                                                      is_coalesced);
}

// The indices without doubles, where they are known: in order, and sorted as one number each.
at::Tensor unique_on_host(const at::Tensor& indices, at::IntArrayRef sizes) {
  const at::Tensor known = known_values(indices);
  const std::int64_t sides = known.size(0);
  at::Tensor flat = at::zeros({known.size(1)}, known.options());
  for (std::int64_t d = 0; d < sides; ++d) flat.mul_(sizes[d]).add_(known[d]);
  flat = std::get<0>(at::_unique2(flat, /*sorted=*/true));
  at::Tensor unique = at::empty({sides, flat.size(0)}, known.options());
  for (std::int64_t d = sides - 1; d >= 0; --d) {
    unique[d].copy_(flat.remainder(sizes[d]));
    flat.floor_divide_(sizes[d]);
  }
  return unique;
}

c10::Storage hold_numbers(const at::Tensor& beside, std::int64_t count, std::int64_t bytes) {
  return hold_workspace(beside.device().index(), count * bytes);
}

// While doubles are looked for: the indices as one number each, sorted with the places that they
// came from, and where each new one begins.
class CoalesceScratch {
 public:
  explicit CoalesceScratch(const at::Tensor& indices) {
    constexpr std::int64_t kIndex = sizeof(std::int64_t);
    const std::int64_t count = indices.size(1), sides = indices.size(0);
    if (count < 2) return;
    if (sides > 1) {
      const c10::Storage multiplied = hold_numbers(indices, sides * count, kIndex);
      flat_ = hold_numbers(indices, count, kIndex);
    }
    places_ = hold_numbers(indices, count, kIndex);
    begins_ = hold_numbers(indices, count, kIndex);
    const c10::Storage sorted = hold_numbers(indices, 2 * count, kIndex);
  }

 private:
  c10::Storage flat_, places_, begins_;
};

// In one dimension the indices are the sorted numbers themselves, with room for as many as before.
at::Tensor new_flat_indices(const at::Tensor& indices, std::int64_t count) {
  return at::empty(indices.sizes(), indices.options()).resize_({1, count});
}

at::Tensor coalesce(const at::Tensor& self) {
  const at::Tensor indices = self._indices(), values = self._values();
  const bool known = has_known_values(indices);
  const at::Tensor unique = known ? unique_on_host(indices, self.sizes()) : at::Tensor();
  const std::int64_t sides = indices.size(0), count = known ? unique.size(1) : indices.size(1);
  at::Tensor new_indices = sides == 1 ? new_flat_indices(indices, count) : at::Tensor();
  const CoalesceScratch scratch(indices);
  std::vector<std::int64_t> sizes = values.sizes().vec();
  sizes[0] = count;
  const at::Tensor new_values = at::empty(sizes, values.options());
  if (sides != 1) new_indices = at::empty({sides, count}, indices.options());
  if (known) {
    const KnownBytes* bytes = known_bytes(indices);
    set_known(new_indices, unique.contiguous(), bytes ? bytes->certainty : Certainty::Known);
  } else {
    storage_log()->diagnose("sparse-indices", Severity::Note, "",
                            "indices of a sparse tensor are not known: no two counted as the same");
  }
  return make_sparse(self, new_indices, new_values, true);
}

void put_into(at::Tensor& out, const at::Tensor& result) {
  out.sparse_resize_and_clear_(result.sizes(), result.sparse_dim(), result.dense_dim());
  at::copy_sparse_to_sparse_(out, result);
}

// Dense and sparse: a dense result. Two sparse ones: both, one after the other.
at::Tensor& add_out(const at::Tensor& self, const at::Tensor& other, const at::Scalar&,
                    at::Tensor& out) {
  if (!self.is_sparse() || !other.is_sparse()) {
    if (!out.is_same(self)) out.resize_as_(self.is_sparse() ? other : self);
    forget(out);
    return out;
  }
  put_into(out, make_sparse(self, at::cat({self._indices(), other._indices()}, 1),
                            at::cat({self._values(), other._values()}, 0), false));
  return out;
}

// As many values as the (smaller) sparse one has.
at::Tensor& mul_out(const at::Tensor& self, const at::Tensor& other, at::Tensor& out) {
  const bool is_first = self.is_sparse() && (!other.is_sparse() || self._nnz() <= other._nnz());
  const at::Tensor& kept = is_first ? self : other;
  if (out.is_same(kept)) return out;
  put_into(out, make_sparse(kept, kept._indices().clone(), at::empty_like(kept._values()),
                            kept.is_coalesced()));
  return out;
}

at::Tensor product(const at::Tensor& self, const at::Tensor& first, const at::Tensor& second,
                   const at::Scalar& beta, const at::Scalar& alpha) {
  at::Tensor out = at::empty({first.size(0), second.size(1)}, second.options());
  return product_out(self, first, second, beta, alpha, out);
}

at::Tensor& product_in_place(at::Tensor& self, const at::Tensor& first, const at::Tensor& second,
                             const at::Scalar& beta, const at::Scalar& alpha) {
  return product_out(self, first, second, beta, alpha, self);
}

at::Tensor& batched_product_out(const at::Tensor& self, const at::Tensor& other, at::Tensor& out) {
  const at::Tensor kept = self.coalesce();
  out.resize_({self.size(0), self.size(1), other.size(2)});
  forget(out);
  return out;
}

at::Tensor batched_product(const at::Tensor& self, const at::Tensor& other) {
  at::Tensor out = at::empty({0}, other.options());
  return batched_product_out(self, other, out);
}

// Where both have values is known where both patterns are: the CPU multiplies ones.
at::Tensor sparse_product(const at::Tensor& self, const at::Tensor& other) {
  const at::Tensor first = self.coalesce(), second = other.coalesce();
  TORCH_CHECK_NOT_IMPLEMENTED(
      has_known_values(first._indices()) && has_known_values(second._indices()),
      "the product of sparse tensors whose indices are not known has no rule on a virtual GPU");
  const auto ones = [](const at::Tensor& of) {
    const at::Tensor indices = known_values(of._indices());
    return at::_sparse_coo_tensor_unsafe(indices, at::ones({indices.size(1)}), of.sizes())
        ._coalesced_(true);
  };
  const at::Tensor found = at::_sparse_sparse_matmul(ones(first), ones(second)).coalesce();
  at::Tensor indices = at::empty(found._indices().sizes(), first._indices().options());
  set_known(indices, found._indices().contiguous(), Certainty::Known);
  return at::_sparse_coo_tensor_with_dims_and_tensors(
      2, 0, found.sizes(), indices, at::empty({found._nnz()}, first._values().options()),
      first.options(), true);
}

at::Tensor like_pattern(const at::Tensor& pattern) {
  const at::Tensor kept = pattern.coalesce();
  return make_sparse(kept, kept._indices().clone(), at::empty_like(kept._values()), true);
}

at::Tensor softmax(const at::Tensor& self, std::int64_t, bool) { return like_pattern(self); }

at::Tensor softmax_backward(const at::Tensor&, const at::Tensor& output, std::int64_t,
                            const at::Tensor&) {
  return like_pattern(output);
}

// By its strides alone, as PyTorch asks: one column does not, unless it has one row.
bool lies_in_columns(const at::Tensor& t) { return t.stride(0) == 1 && t.stride(1) == t.size(0); }

// cuSPARSE reads compressed rows, in numbers of 32 bits, and writes columns, which are copied.
void take_product_scratch(const at::Tensor& sparse, const at::Tensor& dense,
                          const at::Tensor& out) {
  constexpr std::int64_t kIndex = sizeof(std::int32_t);
  const std::int64_t count = sparse._nnz();
  if (count == 0) return;
  const c10::Storage compressed_rows = hold_numbers(out, sparse.size(0) + 1, kIndex);
  hold_numbers(out, count, kIndex);  // the rows before that
  const c10::Storage columns = hold_numbers(out, count, kIndex);
  c10::Storage turned, in_rows;
  if (!lies_in_columns(out)) turned = hold_numbers(out, out.numel(), out.element_size());
  if (!dense.is_contiguous() && !lies_in_columns(dense))
    in_rows = hold_numbers(dense, dense.numel(), dense.element_size());
}

template <class Function>
void put_one(const PutRule& put, const char* name, const char* overload, Function function) {
  put({name, overload}, c10::DispatchKey::SparseCUDA,
      c10::KernelFunction::makeFromUnboxedFunction(function));
}

}  // namespace

// Sparse times dense is dense; what is not coalesced is, for the product.
at::Tensor& product_out(const at::Tensor&, const at::Tensor& first, const at::Tensor& second,
                        const at::Scalar&, const at::Scalar&, at::Tensor& out) {
  TORCH_CHECK(first.size(1) == second.size(0), "mat1 and mat2 shapes cannot be multiplied (" +
                                                   text_of(first.sizes()) + " and " +
                                                   text_of(second.sizes()) + ")");
  TORCH_CHECK_NOT_IMPLEMENTED(out.layout() == at::kStrided && second.layout() == at::kStrided,
                              "a product of two sparse tensors into a third has no rule on a "
                              "virtual GPU (to_dense() makes a dense one)");
  out.resize_({first.size(0), second.size(1)});
  if (first.is_sparse()) take_product_scratch(first.coalesce(), second, out);
  forget(out);
  return out;
}

void put_coordinate_rules(const PutRule& put) {
  put_one(put, "aten::_coalesce", "", TORCH_FN(coalesce));
  put_one(put, "aten::add", "out", TORCH_FN(add_out));
  put_one(put, "aten::mul", "out", TORCH_FN(mul_out));
  put_one(put, "aten::addmm", "", TORCH_FN(product));
  put_one(put, "aten::addmm", "out", TORCH_FN(product_out));
  put_one(put, "aten::addmm_", "", TORCH_FN(product_in_place));
  put_one(put, "aten::bmm", "", TORCH_FN(batched_product));
  put_one(put, "aten::bmm", "out", TORCH_FN(batched_product_out));
  put_one(put, "aten::_sparse_sparse_matmul", "", TORCH_FN(sparse_product));
  put_one(put, "aten::_sparse_softmax", "", TORCH_FN(softmax));
  put_one(put, "aten::_sparse_log_softmax", "", TORCH_FN(softmax));
  put_one(put, "aten::_sparse_softmax_backward_data", "", TORCH_FN(softmax_backward));
  put_one(put, "aten::_sparse_log_softmax_backward_data", "", TORCH_FN(softmax_backward));
}

}  // namespace tidemark::phantom
