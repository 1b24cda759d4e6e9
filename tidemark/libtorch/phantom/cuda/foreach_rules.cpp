// A foreach step over a model is one call here, not hundreds.
#include "tidemark/libtorch/phantom/cuda/foreach_rules.h"

#include "tidemark/libtorch/phantom/log/session.h"
#include "tidemark/libtorch/phantom/values/known_bytes.h"

namespace tidemark::phantom {
namespace {

void forget_written_args(CallFrame& frame) {
  if (frame.any_known()) forget_written(frame.op(), frame.copy_of_args());
}

// Elementwise results take the dtype and, where dense, the strides of their tensor. Mixed dtypes
// and whole numbers go the common way, where promotion is worked out.
bool is_elementwise_float(const c10::IValue& value, std::optional<at::ScalarType>& dtype) {
  bool good = true;
  for_each_tensor(value, [&](const at::Tensor& t) {
    if (!t.defined() || !at::isFloatingType(t.scalar_type())) good = false;
    else if (!is_phantom(t)) good = good && t.dim() == 0;
    else if (!dtype) dtype = t.scalar_type();
    else good = good && *dtype == t.scalar_type();
  });
  return good;
}

at::Tensor like(const at::Tensor& tensor) {
  const auto itemsize = static_cast<std::int64_t>(tensor.itemsize());
  return make_phantom(new_storage(tensor.device().index(), tensor.numel() * itemsize),
                      tensor.dtype(), {tensor.sizes(), tensor.strides(), 0});
}

bool all_dense(const c10::IValue& list) {
  bool dense = true;
  for_each_tensor(list, [&](const at::Tensor& t) {
    dense = dense && is_phantom(t) && t.is_non_overlapping_and_dense();
  });
  return dense;
}

bool reduces(std::string_view name) {
  return name == "aten::_foreach_norm" || name == "aten::_foreach_max" ||
         name == "aten::_foreach_powsum" || name == "aten::_foreach_copy";
}

}  // namespace

bool do_nothing(CallFrame& frame) {
  forget_written_args(frame);
  frame.drop_args();
  return frame.result_count() == 0;
}

bool follow_foreach_rule(CallFrame& frame) {
  if (frame.result_count() == 0) return do_nothing(frame);
  if (reduces(frame.op().schema().name()) || !frame.arg(0).isTensorList()) return false;
  std::optional<at::ScalarType> dtype;
  for (std::size_t i = 0; i < frame.count(); ++i)
    if (!is_elementwise_float(frame.arg(i), dtype)) return false;
  if (!all_dense(frame.arg(0))) return false;
  c10::List<at::Tensor> results;
  for_each_tensor(frame.arg(0), [&](const at::Tensor& t) { results.push_back(like(t)); });
  frame.drop_args();
  frame.push(std::move(results));
  return true;
}

}  // namespace tidemark::phantom
