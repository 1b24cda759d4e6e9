// One small function for each family of operators; all seen on a real GPU.
#include "tidemark/libtorch/phantom/cuda/cuda_results.h"

#include <ATen/ATen.h>
#include <ATen/ScalarOps.h>

#include <algorithm>

#include "tidemark/libtorch/phantom/device/device_guard.h"
#include "tidemark/libtorch/phantom/kernel/catalogue.h"
#include "tidemark/libtorch/phantom/log/session.h"

namespace tidemark::phantom {
namespace {

using Args = std::vector<c10::IValue>;
using Correction = void (*)(CallFrame& frame, const Args& args);

void set_format(const at::Tensor& result, at::MemoryFormat format) {
  if (!result.defined() || format == at::MemoryFormat::Contiguous) return;
  result.unsafeGetTensorImpl()->empty_tensor_restride(format);
}

void lay_out_convolution(CallFrame& frame, const Args& args) {
  set_format(frame.result(0).toTensor(),
             convolution_format(args[0].toTensor(), args[1].toTensor()));
}

void lay_out_convolution_backward(CallFrame& frame, const Args& args) {
  const auto format = convolution_format(args[1].toTensor(), args[2].toTensor());
  for (const std::size_t i : {0u, 1u})
    if (frame.result(i).isTensor()) set_format(frame.result(i).toTensor(), format);
}

// The kernel writes the loss of each element into the result, then shrinks that to one number; its
// storage stays as large as it was.
void keep_room(CallFrame& frame, const Args& args) {
  const at::Tensor result = frame.result(0).toTensor();
  if (!session_options().cuda_choices || result.dim() != 0) return;
  const auto sizes = at::infer_size(args[0].toTensor().sizes(), args[1].toTensor().sizes());
  const auto bytes = c10::multiply_integers(sizes) * static_cast<std::int64_t>(result.itemsize());
  auto* storage = result.storage().unsafeGetStorageImpl();
  storage->set_nbytes(std::max<std::int64_t>(bytes, static_cast<std::int64_t>(storage->nbytes())));
}

// Seed and offset of what is dropped are numbers of the host, but in a graph that is captured.
void keep_seed_on_host(CallFrame& frame, const Args&) {
  if (is_capturing()) return;
  for (const std::size_t i : {2u, 3u}) frame.result(i) = c10::scalar_to_tensor(std::int64_t{0});
}

// Of a bias that is not there or wants no gradient.
void drop_bias_gradient(CallFrame& frame, const Args& args) {
  constexpr std::size_t kWanted = 15, kGradient = 3;
  if (!args[kWanted].toBool()) frame.result(kGradient) = at::Tensor();
}

// CUDA's backward computes anew what the CPU's one finds in the second result.
void leave_buffer_empty(CallFrame& frame, const Args&) {
  if (!session_options().cuda_choices) return;
  const at::Tensor buffer = frame.result(1).toTensor();
  buffer.unsafeGetTensorImpl()->set_sizes_contiguous({0});
  buffer.storage().unsafeGetStorageImpl()->set_nbytes(std::int64_t{0});
}

using CorrectedEntry = CatalogueEntry<Correction>;

constexpr std::array kCorrections = {
    CorrectedEntry{"aten::convolution", &lay_out_convolution},
    CorrectedEntry{"aten::convolution_backward", &lay_out_convolution_backward},
    CorrectedEntry{"aten::_scaled_dot_product_efficient_attention", &keep_seed_on_host},
    CorrectedEntry{"aten::_efficient_attention_forward", &keep_seed_on_host},
    CorrectedEntry{"aten::_efficient_attention_backward", &drop_bias_gradient},
    CorrectedEntry{"aten::log_sigmoid_forward", &leave_buffer_empty},
    CorrectedEntry{"aten::mse_loss", &keep_room},
    CorrectedEntry{"aten::smooth_l1_loss", &keep_room},
    CorrectedEntry{"aten::soft_margin_loss", &keep_room},
    CorrectedEntry{"aten::binary_cross_entropy", &keep_room},
};

}  // namespace

// cuDNN computes in channels-last where the input or the weight is; not in double precision.
at::MemoryFormat convolution_format(const at::Tensor& input, const at::Tensor& weight) {
  const auto is_double = [](const at::Tensor& t) { return t.scalar_type() == at::kDouble; };
  if (is_double(input) || is_double(weight)) return at::MemoryFormat::Contiguous;
  const auto format =
      weight.dim() == 5 ? at::MemoryFormat::ChannelsLast3d : at::MemoryFormat::ChannelsLast;
  const bool wanted =
      input.suggest_memory_format() == format || weight.suggest_memory_format() == format;
  return wanted && weight.dim() >= 4 ? format : at::MemoryFormat::Contiguous;
}

void correct_results(CallFrame& frame, const Args& args) {
  const c10::OperatorName& name = frame.op().operator_name();
  if (!name.overload_name.empty()) return;
  if (const Correction correct = find_in(kCorrections, name.name)) correct(frame, args);
}

}  // namespace tidemark::phantom
