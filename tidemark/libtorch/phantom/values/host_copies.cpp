// Fills a CPU tensor that stands for what a GPU would have given.
#include "tidemark/libtorch/phantom/values/host_copies.h"

#include <ATen/ATen.h>
#include <ATen/core/LegacyTypeDispatch.h>

#include "tidemark/libtorch/phantom/kernel/quiet.h"
#include "tidemark/libtorch/phantom/values/host_certainty.h"
#include "tidemark/libtorch/phantom/values/known_bytes.h"
#include "tidemark/libtorch/phantom/values/value_questions.h"

namespace tidemark::phantom {
namespace {

void fill_from(const at::Tensor& host, const at::Tensor& phantom) {
  at::AutoDispatchBelowADInplaceOrView below;
  QuietPython quiet;
  if (!has_known_values(phantom)) {
    host.zero_();
    mark_made_up_on_host(host);
  } else {
    host.copy_(known_values(phantom));
    if (certainty_of({phantom}) == Certainty::Assumed) mark_assumed_on_host(host);
  }
}

// As _to_copy does: dense tensors keep their strides unless another format is asked for.
at::Tensor empty_on_host(const at::Tensor& like, at::TensorOptions options,
                         const c10::IValue& format) {
  at::AutoDispatchBelowADInplaceOrView below;
  QuietPython quiet;
  const auto wanted = format.isNone() ? at::MemoryFormat::Preserve : format.toMemoryFormat();
  if (wanted != at::MemoryFormat::Preserve) return at::empty(like.sizes(), options, wanted);
  if (like.is_non_overlapping_and_dense())
    return at::empty_strided(like.sizes(), like.strides(), options);
  const auto strides = at::infer_dense_strides(like.sizes(), like.strides());
  return at::empty_strided(like.sizes(), strides, options);
}

}  // namespace

bool copy_to_host(CallFrame& frame) {
  if (!frame.asks_for_cpu()) return false;
  const at::Tensor phantom = frame.arg(0).toTensor();
  if (!has_known_values(phantom)) note_if_asked(frame);
  const at::ScalarType dtype =
      frame.arg(1).isNone() ? phantom.scalar_type() : frame.arg(1).toScalarType();
  auto options = at::TensorOptions().dtype(dtype).device(at::kCPU);
  // PyTorch pins what a GPU is to write while the program goes on.
  if (frame.arg(5).isBool() && frame.arg(5).toBool() && phantom.layout() == at::kStrided)
    options = options.pinned_memory(true);
  at::Tensor host = empty_on_host(phantom, options, frame.arg(6));
  fill_from(host, phantom);
  frame.drop_args();
  frame.push(std::move(host));
  return true;
}

bool copy_into_host(CallFrame& frame) {
  const at::Tensor target = frame.arg(0).toTensor();
  if (!target.device().is_cpu()) return false;
  fill_from(target, frame.arg(1).toTensor());
  frame.drop_args();
  frame.push(target);
  return true;
}

}  // namespace tidemark::phantom
