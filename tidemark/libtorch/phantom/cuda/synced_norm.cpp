// Their shapes: two numbers a channel, in single precision at least, or one like the input.
#include "tidemark/libtorch/phantom/cuda/synced_norm.h"

#include <ATen/ATen.h>

namespace tidemark::phantom {
namespace {

at::ScalarType precise(at::ScalarType dtype) {
  return dtype == at::kHalf || dtype == at::kBFloat16 ? at::kFloat : dtype;
}

// For each channel two numbers.
bool finish_with_pair(CallFrame& frame, const at::Tensor& beside, std::int64_t channels,
                      at::ScalarType dtype) {
  if (frame.has_out()) return false;
  const at::Tensor first = new_phantom(beside, channels, dtype);
  return frame.answer({first, new_phantom(beside, channels, dtype)});
}

bool finish_like(CallFrame& frame, const at::Tensor& input, bool keeps_layout) {
  if (frame.has_out()) return false;
  const at::Tensor made = new_phantom(input, input.sizes());
  if (keeps_layout)
    made.unsafeGetTensorImpl()->set_sizes_and_strides(input.sizes(), input.strides());
  return frame.answer({made});
}

}  // namespace

bool answer_norm_statistics(CallFrame& frame) {
  const at::Tensor input = frame.arg(0).toTensor();
  return finish_with_pair(frame, input, input.size(1), precise(input.scalar_type()));
}

bool answer_gathered_statistics(CallFrame& frame) {
  const at::Tensor means = frame.arg(1).toTensor();
  return finish_with_pair(frame, means, means.size(1), precise(means.scalar_type()));
}

bool answer_normalized(CallFrame& frame) {
  const at::Tensor input = frame.arg(0).toTensor();
  return finish_like(frame, input, input.is_non_overlapping_and_dense());
}

// Two sums for the gradient of the input, then those of weight and bias: what is wanted of them.
bool answer_norm_gradient_sums(CallFrame& frame) {
  if (frame.has_out()) return false;
  const at::Tensor means = frame.arg(2).toTensor();
  const c10::IValue& weight = frame.arg(4);
  const at::ScalarType dtype =
      weight.isTensor() ? weight.toTensor().scalar_type() : means.scalar_type();
  const std::int64_t channels = frame.arg(1).toTensor().size(1);
  const auto made = [&](std::size_t wanted, at::ScalarType of) {
    return frame.arg(wanted).toBool() ? new_phantom(means, channels, of) : at::Tensor();
  };
  const at::Tensor sum = made(5, means.scalar_type()), product = made(5, means.scalar_type());
  const at::Tensor of_weight = made(6, dtype), of_bias = made(7, dtype);
  return frame.answer({sum, product, of_weight, of_bias});
}

bool answer_norm_gradient(CallFrame& frame) {
  const at::Tensor input = frame.arg(1).toTensor();
  return finish_like(frame, input, input.is_contiguous(input.suggest_memory_format()));
}

}  // namespace tidemark::phantom
