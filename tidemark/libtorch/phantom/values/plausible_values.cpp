// Draws indices, and settles questions about broken numbers.
#include "tidemark/libtorch/phantom/values/plausible_values.h"

#include <ATen/ATen.h>
#include <ATen/core/LegacyTypeDispatch.h>

#include <cmath>

#include "tidemark/libtorch/phantom/kernel/quiet.h"
#include "tidemark/libtorch/phantom/log/session.h"
#include "tidemark/libtorch/phantom/values/known_bytes.h"

namespace tidemark::phantom {
namespace {

// A walk through 0..range-1 by a step that shares no factor with it: each row of results gets
// distinct indices, and all indices are used equally often.
at::Tensor spread_indices(at::IntArrayRef sizes, std::int64_t range) {
  at::Tensor count =
      at::arange(c10::multiply_integers(sizes), at::TensorOptions().dtype(at::kLong));
  if (range > 1 && session_options().on_value != OnValue::Zero)
    return count.mul(range % 7 == 0 ? 1 : 7).remainder(range).reshape(sizes);
  return at::zeros(sizes, at::TensorOptions().dtype(at::kLong));
}

// How many places the chosen index can name: the size of the dimension searched, or of it all.
std::int64_t range_of(const CallFrame& frame, const std::vector<c10::IValue>& args) {
  const at::Tensor& self = args[0].toTensor();
  const auto& declared = frame.op().schema().arguments();
  const bool is_multinomial = frame.op().schema().name() == "aten::multinomial";
  std::optional<std::int64_t> dim;
  if (is_multinomial) dim = -1;
  for (std::size_t i = 1; i < args.size(); ++i)
    if (declared[i].name() == "dim" && args[i].isInt()) dim = args[i].toInt();
  if (!dim) return self.numel();
  return self.dim() == 0 ? 1 : self.size(*dim);
}

bool is_unknown(const at::Tensor& tensor) {
  return is_phantom(tensor) && !has_known_values(tensor);
}

void give(CallFrame& frame, bool value) {
  if (session_options().on_value == OnValue::Error) return;
  if (session_options().on_value == OnValue::Zero) value = false;
  for (std::size_t i = 0; i < frame.result_count(); ++i)
    for_each_tensor(frame.result(i), [&](const at::Tensor& result) {
      if (is_unknown(result) && result.scalar_type() == at::kBool)
        set_known(result, at::full({}, value, at::TensorOptions().dtype(at::kBool)),
                  Certainty::Assumed);
    });
}

// Is a number that is taken to be finite equal to this? Nothing where that cannot be said.
std::optional<bool> is_equal(const c10::IValue& self, const c10::IValue& other) {
  if (other.isDouble() && std::isinf(other.toDouble())) return false;
  if (other.isTensor() && self.toTensor().is_same(other.toTensor())) return true;
  return std::nullopt;
}

}  // namespace

void give_indices(CallFrame& frame, const std::vector<c10::IValue>& args) {
  if (session_options().on_value == OnValue::Error) return;
  at::AutoDispatchBelowADInplaceOrView below;
  QuietPython quiet;
  for (std::size_t i = 0; i < frame.result_count(); ++i)
    for_each_tensor(frame.result(i), [&](const at::Tensor& result) {
      if (is_unknown(result) && result.scalar_type() == at::kLong)
        set_known(result, spread_indices(result.sizes(), range_of(frame, args)),
                  Certainty::Assumed);
    });
}

void give_false(CallFrame& frame, const std::vector<c10::IValue>&) { give(frame, false); }

void give_equal(CallFrame& frame, const std::vector<c10::IValue>& args) {
  if (const auto equal = is_equal(args[0], args[1])) give(frame, *equal);
}

void give_unequal(CallFrame& frame, const std::vector<c10::IValue>& args) {
  if (const auto equal = is_equal(args[0], args[1])) give(frame, !*equal);
}

void give_true(CallFrame& frame, const std::vector<c10::IValue>&) { give(frame, true); }

}  // namespace tidemark::phantom
