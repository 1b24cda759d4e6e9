// Borrows the CPU's kernels where they only compose; adds and coalesces without values.
#include "tidemark/libtorch/phantom/cuda/sparse.h"

#include <ATen/ATen.h>
#include <ATen/core/dispatch/Dispatcher.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "tidemark/libtorch/phantom/kernel/silent_override.h"
#include "tidemark/libtorch/phantom/log/session.h"
#include "tidemark/libtorch/phantom/log/where.h"
#include "tidemark/libtorch/phantom/values/known_bytes.h"

namespace tidemark::phantom {
namespace {

using c10::DispatchKey;

std::vector<c10::RegistrationHandleRAII> g_sparse_handles;

constexpr std::array kOtherLayouts = {DispatchKey::SparseCUDA, DispatchKey::SparseCsrCUDA,
                                      DispatchKey::NestedTensorCUDA, DispatchKey::QuantizedCUDA};

// Kernels that walk over the CPU's memory.
constexpr std::array<std::string_view, 26> kReadValues = {
    "aten::_coalesce",
    "aten::add.out",
    "aten::mul.out",
    "aten::addmm",
    "aten::addmm.out",
    "aten::addmm_",
    "aten::bmm",
    "aten::bmm.out",
    "aten::hspmm",
    "aten::hspmm.out",
    "aten::mm",
    "aten::mm.out",
    "aten::mv",
    "aten::sspaddmm.out",
    "aten::index_select",
    "aten::any",
    "aten::_sparse_softmax",
    "aten::_sparse_softmax_backward_data",
    "aten::_sparse_log_softmax",
    "aten::_sparse_log_softmax_backward_data",
    "aten::_sparse_sparse_matmul",
    "aten::_sparse_sum_backward",
    "aten::_to_sparse_bsr",
    "aten::_to_sparse_bsc",
    "aten::_to_sparse_csr",
    "aten::_to_sparse_csc",
};

bool only_composes(const c10::OperatorName& name) {
  return std::find(kReadValues.begin(), kReadValues.end(), c10::toString(name)) ==
         kReadValues.end();
}

class BorrowedKernel final : public c10::OperatorKernel {
 public:
  explicit BorrowedKernel(const c10::OperatorName& name)
      : makes_tensor_(name.name == "aten::_sparse_coo_tensor_with_dims_and_tensors") {}

  void operator()(const c10::OperatorHandle& op, c10::DispatchKeySet, torch::jit::Stack* stack) {
    op.redispatchBoxed(c10::DispatchKeySet(DispatchKey::SparseCPU), stack);
    if (!makes_tensor_ || !makes_gradient(find_whence(*storage_log(), false))) return;
    const at::Tensor& gradient = stack->back().toTensor();
    label_gradient(gradient._indices());
    label_gradient(gradient._values());
  }

 private:
  bool makes_tensor_;
};

[[noreturn]] void refuse(const c10::OperatorHandle& op, c10::DispatchKeySet, torch::jit::Stack*) {
  const StackId source = find_whence(*storage_log(), false).place.stack;
  TORCH_CHECK_NOT_IMPLEMENTED(false, c10::toString(op.operator_name()) +
                                         " has no rule for such tensors on a virtual GPU, at " +
                                         describe_source(source) +
                                         " (it has one for dense tensors: to_dense() makes one)");
}

at::Tensor make_sparse(const at::Tensor& like, const at::Tensor& indices, const at::Tensor& values,
                       bool is_coalesced) {
  return at::_sparse_coo_tensor_with_dims_and_tensors(like.sparse_dim(), like.dense_dim(),
                                                      like.sizes(), indices, values, like.options(),
                                                      is_coalesced);
}

// The indices without doubles, where they are known.
at::Tensor unique_on_host(const at::Tensor& indices) {
  return std::get<0>(at::unique_dim(known_values(indices), 1));
}

at::Tensor coalesce(const at::Tensor& self) {
  const at::Tensor indices = self._indices(), values = self._values();
  const bool known = has_known_values(indices);
  const at::Tensor unique = known ? unique_on_host(indices) : at::Tensor();
  const std::int64_t count = known ? unique.size(1) : indices.size(1);
  at::Tensor new_indices = at::empty({indices.size(0), count}, indices.options());
  if (known) {
    const KnownBytes* bytes = known_bytes(indices);
    set_known(new_indices, unique.contiguous(), bytes ? bytes->certainty : Certainty::Known);
  } else {
    storage_log()->diagnose("sparse-indices", Severity::Note, "",
                            "indices of a sparse tensor are not known: no two counted as the same");
  }
  std::vector<std::int64_t> sizes = values.sizes().vec();
  sizes[0] = count;
  return make_sparse(self, new_indices, at::empty(sizes, values.options()), true);
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

// A CUDA build brings kernels of its own for other layouts, which would look for a GPU.
void put_kernels(SilentOverride& override, const c10::OperatorHandle& op) {
  const c10::OperatorName& name = op.operator_name();
  for (const DispatchKey key : kOtherLayouts) {
    if (key == DispatchKey::SparseCUDA && op.hasKernelForDispatchKey(DispatchKey::SparseCPU) &&
        only_composes(name))
      g_sparse_handles.push_back(override.put(name, key, std::make_unique<BorrowedKernel>(name)));
    else if (op.hasKernelForDispatchKey(key))
      g_sparse_handles.push_back(
          override.put(name, key, c10::KernelFunction::makeFromBoxedFunction<&refuse>()));
  }
}

template <class Function>
void put(SilentOverride& override, const char* name, const char* overload, Function function) {
  g_sparse_handles.push_back(override.put({name, overload}, DispatchKey::SparseCUDA,
                                          c10::KernelFunction::makeFromUnboxedFunction(function)));
}

}  // namespace

void register_sparse_kernels() {
  SilentOverride override;
  c10::Dispatcher& dispatcher = c10::Dispatcher::singleton();
  for (const DispatchKey key : kOtherLayouts)
    g_sparse_handles.push_back(dispatcher.registerFallback(
        key, c10::KernelFunction::makeFromBoxedFunction<&refuse>(), "tidemark virtual GPU"));
  for (const c10::OperatorName& name : dispatcher.getAllOpNames())
    if (const auto op = dispatcher.findSchema(name)) put_kernels(override, *op);
  put(override, "aten::_coalesce", "", TORCH_FN(coalesce));
  put(override, "aten::add", "out", TORCH_FN(add_out));
  put(override, "aten::mul", "out", TORCH_FN(mul_out));
}

void deregister_sparse_kernels() { g_sparse_handles.clear(); }

}  // namespace tidemark::phantom
