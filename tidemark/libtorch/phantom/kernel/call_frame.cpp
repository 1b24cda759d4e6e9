// The one look at a call's arguments.
#include "tidemark/libtorch/phantom/kernel/call_frame.h"

#include "tidemark/libtorch/phantom/values/known_bytes.h"

namespace tidemark::phantom {

std::optional<std::int64_t> told_dim(const c10::OperatorHandle& op,
                                     c10::ArrayRef<c10::IValue> args) {
  const auto& declared = op.schema().arguments();
  for (std::size_t i = 0; i < args.size(); ++i)
    if (declared[i].name() == "dim" && args[i].isInt()) return args[i].toInt();
  return std::nullopt;
}

void CallFrame::look_at(const at::Tensor& tensor) {
  if (!tensor.defined()) return;
  if (!is_phantom(tensor)) {
    all_known_ = all_known_ && has_known_values(tensor);
    touches_host_ = touches_host_ || (tensor.dim() > 0 && tensor.device().is_cpu());
    return;
  }
  if (!touches_phantoms_) device_ = tensor.device();
  is_mixed_ = is_mixed_ || tensor.device() != device_;
  touches_phantoms_ = true;
  is_recorded_ = is_recorded_ || (autograd_records_ && tensor.requires_grad());
  const bool known = has_known_values_of_phantom(tensor);
  all_known_ = all_known_ && known;
  any_known_ = any_known_ || known;
}

void CallFrame::look() {
  std::optional<c10::Device> asked;
  for (std::size_t i = 0; i < count_; ++i) {
    const c10::IValue& value = arg(i);
    if (value.isDevice()) asked = value.toDevice();
    else for_each_tensor(value, [&](const at::Tensor& tensor) { look_at(tensor); });
  }
  is_mixed_ = is_mixed_ || (touches_phantoms_ && touches_host_);
  if (!asked) return;
  asks_for_cuda_ = asked->is_cuda();
  asks_for_cpu_ = asked->is_cpu();
  if (asks_for_cuda_) device_ = with_index(*asked);
}

}  // namespace tidemark::phantom
