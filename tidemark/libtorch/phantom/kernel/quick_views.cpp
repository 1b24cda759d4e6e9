// Sizes and strides as PyTorch's own kernels work them out; the storage is the argument's.
#include "tidemark/libtorch/phantom/kernel/quick_views.h"

#include <ATen/InferSize.h>
#include <ATen/TensorUtils.h>
#include <c10/core/WrapDimMinimal.h>

#include <memory>
#include <utility>

#include "tidemark/libtorch/phantom/cuda/torch_version.h"
#include "tidemark/libtorch/phantom/kernel/kernel.h"
#include "tidemark/libtorch/phantom/log/session.h"
#include "tidemark/libtorch/phantom/log/where.h"

namespace tidemark::phantom {
namespace {

using Sizes = c10::SmallVector<std::int64_t, 5>;

// Calls that are not plain: by the kernel of all operators.
class ViewKernel : public c10::OperatorKernel {
 public:
  explicit ViewKernel(const c10::OperatorHandle& op)
      : op_(op), name_(c10::toString(op.operator_name())), common_(op) {}

 protected:
  static bool is_plain(const at::Tensor& self) {
    const auto* impl = self.unsafeGetTensorImpl();
    return session_options().memo && is_phantom(self) && !impl->is_conj() && !impl->is_neg() &&
           !impl->is_wrapped_number() && !has_names(self);
  }

  template <class... Args>
  at::Tensor call_common(const at::Tensor& self, Args... args) {
    torch::jit::Stack stack;
    torch::jit::push(stack, self, args...);
    common_(op_, c10::DispatchKeySet(c10::DispatchKey::CUDA), &stack);
    return torch::jit::pop(stack).toTensor();
  }

  at::Tensor make(const at::Tensor& self, c10::IntArrayRef sizes, c10::IntArrayRef strides) const {
    return make(self, sizes, strides, self.requires_grad());
  }
  at::Tensor make(const at::Tensor& self, c10::IntArrayRef sizes, c10::IntArrayRef strides,
                  bool needs_grad) const {
    count_op();
    Whence here = find_whence(*storage_log(), needs_grad);
    here.op = name_.c_str();
    const WhenceGuard guard(here);
    if (makes_gradient(here)) label_gradient(self);
    return make_view(self, self.dtype(), {sizes, strides, self.storage_offset()});
  }

  at::Tensor swapped(const at::Tensor& self, std::int64_t a, std::int64_t b) const {
    Sizes sizes(self.sizes().begin(), self.sizes().end());
    Sizes strides(self.strides().begin(), self.strides().end());
    std::swap(sizes[a], sizes[b]);
    std::swap(strides[a], strides[b]);
    return make(self, sizes, strides);
  }

 private:
  c10::OperatorHandle op_;
  const std::string name_;
  PhantomKernel common_;
};

class View final : public ViewKernel {
 public:
  using ViewKernel::ViewKernel;
  at::Tensor operator()(const at::Tensor& self, c10::IntArrayRef size) {
    if (!is_plain(self)) return call_common(self, size);
    const at::DimVector sizes = at::infer_size_dv(size, self.numel());
    const auto strides = at::detail::computeStride(self.sizes(), self.strides(), sizes);
    return strides ? make(self, sizes, *strides) : call_common(self, size);
  }
};

class Transpose final : public ViewKernel {
 public:
  using ViewKernel::ViewKernel;
  at::Tensor operator()(const at::Tensor& self, std::int64_t a, std::int64_t b) {
    if (!is_plain(self) || self.dim() == 0) return call_common(self, a, b);
    return swapped(self, c10::maybe_wrap_dim(a, self.dim()), c10::maybe_wrap_dim(b, self.dim()));
  }
};

class MatrixTranspose final : public ViewKernel {
 public:
  using ViewKernel::ViewKernel;
  at::Tensor operator()(const at::Tensor& self) {
    if (!is_plain(self) || self.dim() != 2) return call_common(self);
    return swapped(self, 0, 1);
  }
};

class Detach final : public ViewKernel {
 public:
  using ViewKernel::ViewKernel;
  at::Tensor operator()(const at::Tensor& self) {
    if (!is_plain(self)) return call_common(self);
    // No gradient goes through it: a program that saves its model has not begun a training step.
    return make(self, self.sizes(), self.strides(), false);
  }
};

template <class Kernel>
c10::KernelFunction kernel_for(const c10::OperatorHandle& op) {
  return c10::KernelFunction::makeFromUnboxedFunctor<false, Kernel>(std::make_unique<Kernel>(op));
}

}  // namespace

c10::KernelFunction quick_view(const c10::OperatorHandle& op) {
  const std::string name = c10::toString(op.operator_name());
  if (name == "aten::view") return kernel_for<View>(op);
  if (name == "aten::transpose.int") return kernel_for<Transpose>(op);
  if (name == "aten::t") return kernel_for<MatrixTranspose>(op);
  if (name == "aten::detach") return kernel_for<Detach>(op);
  return {};
}

}  // namespace tidemark::phantom
