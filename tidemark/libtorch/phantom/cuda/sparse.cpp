// Borrows the CPU's kernels where they only compose; those that read values have rules.
#include "tidemark/libtorch/phantom/cuda/sparse.h"

#include <ATen/ATen.h>
#include <ATen/core/dispatch/Dispatcher.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "tidemark/libtorch/phantom/cuda/sparse_rules.h"
#include "tidemark/libtorch/phantom/kernel/composite_call.h"
#include "tidemark/libtorch/phantom/kernel/silent_override.h"
#include "tidemark/libtorch/phantom/log/session.h"
#include "tidemark/libtorch/phantom/log/where.h"

namespace tidemark::phantom {
namespace {

using c10::DispatchKey;

std::vector<c10::RegistrationHandleRAII> g_sparse_handles;

constexpr std::array kOtherLayouts = {DispatchKey::SparseCUDA, DispatchKey::SparseCsrCUDA,
                                      DispatchKey::NestedTensorCUDA, DispatchKey::QuantizedCUDA};

// Kernels that walk over the CPU's memory.
constexpr std::array<std::string_view, 21> kReadValues = {
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
};

// Of compressed layouts (CSR, CSC) those that compose; most others walk.
constexpr std::array<std::string_view, 28> kComposeCompressed = {
    "aten::_nnz",
    "aten::_to_dense",
    "aten::_to_sparse",
    "aten::_to_sparse.sparse_dim",
    "aten::abs",
    "aten::addmm",
    "aten::ccol_indices",
    "aten::clone",
    "aten::col_indices",
    "aten::copy_",
    "aten::crow_indices",
    "aten::dense_dim",
    "aten::empty.memory_format",
    "aten::empty_like",
    "aten::is_pinned",
    "aten::mm",
    "aten::mul.Scalar",
    "aten::neg",
    "aten::relu",
    "aten::resize_as_sparse_",
    "aten::row_indices",
    "aten::select.int",
    "aten::sin",
    "aten::sparse_dim",
    "aten::sqrt",
    "aten::tanh",
    "aten::values",
    "aten::zero_",
};

template <class Names>
bool lists(const Names& names, const c10::OperatorName& name) {
  return std::find(names.begin(), names.end(), c10::toString(name)) != names.end();
}

// The key whose kernel serves; none where it walks over memory.
std::optional<DispatchKey> lender(const c10::OperatorHandle& op, DispatchKey key) {
  const c10::OperatorName& name = op.operator_name();
  if (key == DispatchKey::SparseCUDA && !lists(kReadValues, name) &&
      op.hasKernelForDispatchKey(DispatchKey::SparseCPU))
    return DispatchKey::SparseCPU;
  if (key == DispatchKey::SparseCsrCUDA && lists(kComposeCompressed, name) &&
      op.hasKernelForDispatchKey(DispatchKey::SparseCsrCPU))
    return DispatchKey::SparseCsrCPU;
  return std::nullopt;
}

class BorrowedKernel final : public c10::OperatorKernel {
 public:
  BorrowedKernel(const c10::OperatorName& name, DispatchKey from)
      : from_(from), makes_tensor_(name.name == "aten::_sparse_coo_tensor_with_dims_and_tensors") {}

  void operator()(const c10::OperatorHandle& op, c10::DispatchKeySet, torch::jit::Stack* stack) {
    op.redispatchBoxed(c10::DispatchKeySet(from_), stack);
    if (!makes_tensor_ || !makes_gradient(find_whence(*storage_log(), false))) return;
    const at::Tensor& gradient = stack->back().toTensor();
    label_gradient(gradient._indices());
    label_gradient(gradient._values());
  }

 private:
  DispatchKey from_;
  bool makes_tensor_;
};

[[noreturn]] void refuse(const c10::OperatorHandle& op, c10::DispatchKeySet, torch::jit::Stack*) {
  const StackId source = find_whence(*storage_log(), false).place.stack;
  TORCH_CHECK_NOT_IMPLEMENTED(false, c10::toString(op.operator_name()) +
                                         " has no rule for such tensors on a virtual GPU, at " +
                                         describe_source(source) +
                                         " (it has one for dense tensors: to_dense() makes one)");
}

// A CPU build has none for CUDA, and would take one for dense tensors.
bool walks_compressed(const c10::OperatorHandle& op, DispatchKey key) {
  return key == DispatchKey::SparseCsrCUDA && op.hasKernelForDispatchKey(DispatchKey::SparseCsrCPU);
}

// A CUDA build brings kernels of its own for other layouts, which would look for a GPU.
void put_kernels(SilentOverride& override, const c10::OperatorHandle& op) {
  const c10::OperatorName& name = op.operator_name();
  for (const DispatchKey key : kOtherLayouts) {
    if (const auto from = lender(op, key))
      g_sparse_handles.push_back(
          override.put(name, key, std::make_unique<BorrowedKernel>(name, *from)));
    else if (op.hasKernelForDispatchKey(key) || walks_compressed(op, key))
      g_sparse_handles.push_back(
          override.put(name, key, c10::KernelFunction::makeFromBoxedFunction<&refuse>()));
  }
}

}  // namespace

bool answer_bag_gradient(CallFrame& frame) {
  constexpr std::size_t kIsSparse = 9;
  return frame.arg(kIsSparse).toBool() && run_shared_kernel(frame);
}

void register_sparse_kernels() {
  SilentOverride override;
  c10::Dispatcher& dispatcher = c10::Dispatcher::singleton();
  for (const DispatchKey key : kOtherLayouts)
    g_sparse_handles.push_back(dispatcher.registerFallback(
        key, c10::KernelFunction::makeFromBoxedFunction<&refuse>(), "tidemark virtual GPU"));
  for (const c10::OperatorName& name : dispatcher.getAllOpNames())
    if (const auto op = dispatcher.findSchema(name)) put_kernels(override, *op);
  const PutRule put = [&](const c10::OperatorName& name, DispatchKey key,
                          c10::KernelFunction kernel) {
    g_sparse_handles.push_back(override.put(name, key, std::move(kernel)));
  };
  put_coordinate_rules(put);
  put_compressed_rules(put);
}

void deregister_sparse_kernels() { g_sparse_handles.clear(); }

}  // namespace tidemark::phantom
