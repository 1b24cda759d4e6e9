// Swaps phantoms for twins, calls below autograd, and turns what comes back into phantoms.
#include "tidemark/libtorch/phantom/kernel/twin_call.h"

#include <ATen/ATen.h>
#include <ATen/core/LegacyTypeDispatch.h>

#include "tidemark/libtorch/phantom/cuda/cuda_results.h"
#include "tidemark/libtorch/phantom/kernel/composite_call.h"
#include "tidemark/libtorch/phantom/kernel/missing_kernel.h"
#include "tidemark/libtorch/phantom/kernel/quiet.h"
#include "tidemark/libtorch/phantom/kernel/signature.h"
#include "tidemark/libtorch/phantom/kernel/written_arguments.h"

namespace tidemark::phantom {
namespace {

class TwinCall {
 public:
  TwinCall(CallFrame& frame, const Workspaces& workspaces, const std::function<void()>& name_call)
      : frame_(frame), workspaces_(workspaces), name_call_(name_call) {}

  TwinAnswer run() {
    std::vector<c10::IValue> args = frame_.copy_of_args();
    for (std::size_t i = 0; i < frame_.count(); ++i) frame_.arg(i) = to_meta(frame_.arg(i));
    const Shapes shapes = call();
    if (shapes != Shapes::Told) {
      frame_.put_args(std::move(args));
      if (shapes == Shapes::NoFake && has_parts(frame_.op())) return TwinAnswer::HasParts;
      ask_cpu_for_shapes(frame_);
      return TwinAnswer::Results;
    }
    check_shapes();
    if (frame_.op().schema().name() == "aten::as_strided")
      check_bounds(frame_.result(0).toTensor());
    correct_results(frame_, args);
    name_call_();
    if (!workspaces_.are_none()) bear_results();
    for (std::size_t i = 0; i < frame_.result_count(); ++i)
      frame_.result(i) =
          with_tensors(frame_.result(i), [&](const at::Tensor& t) { return back(t); });
    for (auto& [twin, phantom] : twins_) sync(*twin.unsafeGetTensorImpl(), phantom);
    return TwinAnswer::Results;
  }

 private:
  enum class Shapes : std::uint8_t { Told, NoMeta, NoFake };

  Shapes call() {
    take_fake_missing();
    try {
      at::AutoDispatchBelowADInplaceOrView below;
      QuietPython quiet;
      frame_.op().callBoxed(frame_.stack());
    } catch (const c10::NotImplementedError&) {
      return Shapes::NoMeta;
    } catch (...) {
      if (!take_fake_missing()) throw;
      return Shapes::NoFake;
    }
    return Shapes::Told;
  }

  c10::IValue to_meta(const c10::IValue& value) {
    if (value.isDevice()) return c10::Device(c10::DeviceType::Meta);
    if (value.isGenerator()) return {};
    return with_tensors(value, [&](const at::Tensor& tensor) { return twin_of(tensor); });
  }

  at::Tensor twin_of(const at::Tensor& tensor) {
    if (!tensor.defined() || tensor.device().is_meta()) return tensor;
    if (is_phantom(tensor)) {
      for (auto& [twin, phantom] : twins_)
        if (phantom.is_same(tensor)) return twin;
      twins_.emplace_back(make_twin(tensor), tensor);
      return twins_.back().first;
    }
    // A scalar of the CPU may meet any device; the meta kernel of masked_fill alone forbids it.
    if (tensor.dim() == 0 && !frame_.op().schema().name().starts_with("aten::masked_fill"))
      return tensor;
    return at::empty_strided(tensor.sizes(), tensor.strides(), tensor.options().device(at::kMeta));
  }

  // New storages in the order in which the call makes them, with what it takes in between.
  void bear_results() {
    std::vector<at::Tensor> results;
    for (std::size_t i = 0; i < frame_.result_count(); ++i)
      for_each_tensor(frame_.result(i), [&](const at::Tensor& t) { results.push_back(t); });
    workspaces_.follow(frame_.device().index(), results.size(), [&](std::size_t i) {
      if (results[i].defined() && results[i].device().is_meta() && results[i].has_storage())
        adopt_storage(results[i].storage(), frame_.device().index());
    });
  }

  at::Tensor back(const at::Tensor& result) {
    if (!result.defined() || !result.device().is_meta()) return result;
    for (auto& [twin, phantom] : twins_)
      if (twin.is_same(result)) return phantom;
    check_is_plain(result, frame_);
    at::Tensor phantom = over_storage_of(result);
    if (result.unsafeGetTensorImpl()->is_wrapped_number())
      phantom.unsafeGetTensorImpl()->set_wrapped_number(true);
    if (result.is_conj()) phantom._set_conj(true);
    if (result.is_neg()) phantom._set_neg(true);
    return phantom;
  }

  at::Tensor over_storage_of(const at::Tensor& result) const {
    const TensorLayout layout{result.sizes(), result.strides(), result.storage_offset()};
    for (auto& [twin, phantom] : twins_)
      if (phantom.storage().unsafeGetStorageImpl() == result.storage().unsafeGetStorageImpl())
        return make_view(phantom, result.dtype(), layout);
    adopt_storage(result.storage(), frame_.device().index());
    return make_phantom(result.storage(), result.dtype(), layout);
  }

  // Some meta kernels let an operator in place change its tensor's shape; no real one does.
  void check_shapes() const {
    if (twins_.empty() || !keeps_shape_in_place(frame_.op())) return;
    const auto& [twin, phantom] = twins_.front();
    TORCH_CHECK(twin.sizes() == phantom.sizes(), "output with shape " + text_of(phantom.sizes()) +
                                                     " doesn't match the broadcast shape " +
                                                     text_of(twin.sizes()));
  }

  // A real kernel refuses a view past the end of its storage; the meta kernel does not look.
  static void check_bounds(const at::Tensor& view) {
    if (view.numel() == 0) return;
    std::int64_t last = view.storage_offset();
    for (std::int64_t i = 0; i < view.dim(); ++i) last += (view.size(i) - 1) * view.stride(i);
    const auto needed = (last + 1) * static_cast<std::int64_t>(view.itemsize());
    const auto there = static_cast<std::int64_t>(view.storage().nbytes());
    TORCH_CHECK(needed <= there, "setStorage: sizes " + text_of(view.sizes()) + ", strides " +
                                     text_of(view.strides()) + " require a storage size of " +
                                     std::to_string(needed) +
                                     ", out of bounds for storage of size " +
                                     std::to_string(there));
  }

  // In-place operators may have changed the twin's shape, or its storage's size.
  void sync(const c10::TensorImpl& twin, const at::Tensor& phantom) {
    auto* impl = phantom.unsafeGetTensorImpl();
    if (impl->storage().unsafeGetStorageImpl() != twin.storage().unsafeGetStorageImpl()) {
      adopt_storage(twin.storage(), frame_.device().index());
      put_over(phantom, twin.storage());
    }
    if (impl->sizes() != twin.sizes() || impl->strides() != twin.strides() ||
        impl->storage_offset() != twin.storage_offset())
      impl->set_sizes_and_strides(twin.sizes(), twin.strides(), twin.storage_offset());
    settle_size(impl->storage());
  }

  CallFrame& frame_;
  const Workspaces& workspaces_;
  const std::function<void()>& name_call_;
  std::vector<std::pair<at::Tensor, at::Tensor>> twins_;  // twin, phantom
};

}  // namespace

TwinAnswer call_on_twins(CallFrame& frame, const Workspaces& workspaces,
                         const std::function<void()>& name_call) {
  return TwinCall(frame, workspaces, name_call).run();
}

}  // namespace tidemark::phantom
