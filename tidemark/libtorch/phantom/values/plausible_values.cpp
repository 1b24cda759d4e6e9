// Gives indices, and settles questions about broken numbers.
#include "tidemark/libtorch/phantom/values/plausible_values.h"

#include <ATen/ATen.h>
#include <ATen/core/LegacyTypeDispatch.h>

#include <cmath>
#include <utility>

#include "tidemark/libtorch/phantom/kernel/quiet.h"
#include "tidemark/libtorch/phantom/log/session.h"
#include "tidemark/libtorch/phantom/values/known_bytes.h"
#include "tidemark/libtorch/phantom/values/made_up_indices.h"

namespace tidemark::phantom {
namespace {

[[gnu::tls_model("initial-exec")]] constinit thread_local bool t_in_descent = false;

// Along which indices are chosen; nothing where the whole tensor is searched.
std::optional<std::int64_t> searched_dimension(const CallFrame& frame,
                                               const std::vector<c10::IValue>& args) {
  if (frame.op().schema().name() == "aten::multinomial") return -1;
  return told_dim(frame.op(), args);
}

at::Tensor indices_of(const at::Tensor& result, const CallFrame& frame,
                      const std::vector<c10::IValue>& args) {
  if (session_options().on_value == OnValue::Zero)
    return at::zeros(result.sizes(), at::TensorOptions().dtype(at::kLong));
  const std::optional<std::int64_t> dim = searched_dimension(frame, args);
  const at::Tensor& self = args[0].toTensor();
  const bool has_rows = dim && self.dim() > 0 && result.dim() == self.dim();
  const std::int64_t range = !dim ? self.numel() : self.dim() == 0 ? 1 : self.size(*dim);
  return made_up_indices(result.sizes(), has_rows ? dim : std::nullopt, range);
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

bool is_infinite(const c10::IValue& value) {
  return value.isDouble() && std::isinf(value.toDouble());
}

// Is a number that is taken to be finite equal to this? Nothing where that cannot be said.
std::optional<bool> is_equal(const c10::IValue& self, const c10::IValue& other) {
  if (is_infinite(other)) return false;
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
        set_known(result, indices_of(result, frame, args), Certainty::Assumed);
    });
}

void give_false(CallFrame& frame, const std::vector<c10::IValue>&) { give(frame, false); }

void give_equal(CallFrame& frame, const std::vector<c10::IValue>& args) {
  if (const auto equal = is_equal(args[0], args[1])) give(frame, *equal);
}

void give_unequal(CallFrame& frame, const std::vector<c10::IValue>& args) {
  if (const auto equal = is_equal(args[0], args[1])) give(frame, !*equal);
}

void give_below(CallFrame& frame, const std::vector<c10::IValue>& args) {
  if (is_infinite(args[1])) give(frame, args[1].toDouble() > 0);
}

void give_above(CallFrame& frame, const std::vector<c10::IValue>& args) {
  if (is_infinite(args[1])) give(frame, args[1].toDouble() < 0);
}

void give_true(CallFrame& frame, const std::vector<c10::IValue>&) { give(frame, true); }

bool set_in_descent(bool in_descent) { return std::exchange(t_in_descent, in_descent); }

void give_curvature(CallFrame& frame, const std::vector<c10::IValue>&) {
  if (!t_in_descent || session_options().on_value != OnValue::Plausible) return;
  const at::Tensor result = frame.result(0).toTensor();
  if (is_unknown(result))
    set_known(result, at::ones({}, at::TensorOptions().dtype(result.scalar_type())),
              Certainty::Assumed);
}

}  // namespace tidemark::phantom
