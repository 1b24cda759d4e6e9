// The catalogue of operators that are written down, and the conditions.
#include "tidemark/libtorch/phantom/values/hollow_steps.h"

#include <ATen/ATen.h>
#include <ATen/core/LegacyTypeDispatch.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "tidemark/libtorch/phantom/kernel/quiet.h"
#include "tidemark/libtorch/phantom/values/hollow_memory.h"

namespace tidemark::phantom {
namespace {

constexpr std::array kWrittenDown = {
    HollowOperator{"aten::zero_", Role::Fill},
    HollowOperator{"aten::fill_", Role::Fill},
    HollowOperator{"aten::normal_", Role::Draw},
    HollowOperator{"aten::uniform_", Role::Draw},
    HollowOperator{"aten::copy_", Role::Copy},
    HollowOperator{"aten::mul_", Role::Change},
    HollowOperator{"aten::add_", Role::Change},
    HollowOperator{"aten::sub_", Role::Change},
    HollowOperator{"aten::div_", Role::Change},
    HollowOperator{"aten::neg_", Role::Change},
    HollowOperator{"aten::clamp_", Role::Change},
    HollowOperator{"aten::clamp_min_", Role::Change},
    HollowOperator{"aten::clamp_max_", Role::Change},
    HollowOperator{"aten::erfinv_", Role::Change},
    HollowOperator{"aten::mul", Role::Arithmetic, "aten::mul_"},
    HollowOperator{"aten::add", Role::Arithmetic, "aten::add_"},
    HollowOperator{"aten::sub", Role::Arithmetic, "aten::sub_"},
    HollowOperator{"aten::div", Role::Arithmetic, "aten::div_"},
};

bool is_simple(const at::Tensor& tensor) {
  return at::isFloatingType(tensor.scalar_type()) && tensor.layout() == at::kStrided &&
         !tensor.is_neg() && !tensor.is_conj();
}

// The value that a number has now, whatever becomes of its tensor.
c10::IValue kept(const c10::IValue& number) {
  if (!number.isTensor()) return number;
  at::AutoDispatchBelowADInplaceOrView below;
  QuietPython quiet;
  at::Tensor copy = number.toTensor().clone();
  copy.unsafeGetTensorImpl()->set_wrapped_number(
      number.toTensor().unsafeGetTensorImpl()->is_wrapped_number());
  return copy;
}

bool take_numbers(const CallFrame& frame, std::size_t end, Step& step) {
  for (std::size_t i = 1; i < end; ++i) {
    if (!is_number(frame.arg(i))) return false;
    step.others.push_back(kept(frame.arg(i)));
  }
  return true;
}

bool take_source(const CallFrame& frame, Step& step) {
  const at::Tensor &target = frame.arg(0).toTensor(), &source = frame.arg(1).toTensor();
  if (!is_over_block(source) || !is_simple(source) || source.sizes() != target.sizes() ||
      source.is_alias_of(target))
    return false;
  std::optional<Contents> contents = untouched_contents(source);
  if (!contents) return false;
  step.length += length_of(contents->program);
  step.source = std::make_unique<const Contents>(std::move(*contents));
  step.others = {c10::IValue(), frame.arg(2)};
  return true;
}

bool take_draw(const CallFrame& frame, Step& step) {
  if (!generator_of(frame).device().is_cpu() || !draws_of(frame)) return false;
  if (!take_numbers(frame, frame.count() - 1, step)) return false;
  step.others.emplace_back();  // the generator's place
  return true;
}

}  // namespace

const HollowOperator* find_hollow_operator(const c10::OperatorName& name) {
  const auto* found =
      std::find_if(kWrittenDown.begin(), kWrittenDown.end(), [&](const auto& entry) {
        return entry.name == name.name &&
               (entry.role != Role::Arithmetic || name.overload_name == "Tensor");
      });
  return found == kWrittenDown.end() ? nullptr : found;
}

std::optional<Step> draft_step(Role role, const CallFrame& frame) {
  if (!is_simple(frame.arg(0).toTensor())) return std::nullopt;
  Step step{frame.op(), Layout::of(frame.arg(0).toTensor())};
  bool is_whole = false;
  if (role == Role::Copy) is_whole = take_source(frame, step);
  else if (role == Role::Draw) is_whole = take_draw(frame, step);
  else is_whole = has_no_factor(frame) && take_numbers(frame, frame.count(), step);
  return is_whole ? std::optional(std::move(step)) : std::nullopt;
}

bool fills_with_zeros(const CallFrame& frame) {
  if (frame.count() == 1) return true;
  const c10::IValue& value = frame.arg(1);
  if (value.isDouble()) return value.toDouble() == 0 && !std::signbit(value.toDouble());
  return (value.isInt() && value.toInt() == 0) || (value.isBool() && !value.toBool());
}

// With another factor than 1 a sum is rounded once or twice, as the instructions taken do it.
bool has_no_factor(const CallFrame& frame) {
  const c10::IValue& last = frame.arg(frame.count() - 1);
  return frame.op().schema().arguments().back().name() != "alpha" ||
         (last.isInt() && last.toInt() == 1);
}

bool is_number(const c10::IValue& value) {
  if (!value.isTensor()) return value.isNone() || value.isScalar();
  const at::Tensor& tensor = value.toTensor();
  return tensor.defined() && tensor.dim() == 0 && tensor.device().is_cpu() &&
         tensor.layout() == at::kStrided && !tensor.is_neg() && !tensor.is_conj();
}

at::Generator generator_of(const CallFrame& frame) {
  const c10::IValue& given = frame.arg(frame.count() - 1);
  return given.isNone() ? at::detail::getDefaultCPUGenerator() : given.toGenerator();
}

std::optional<std::uint64_t> draws_of(const CallFrame& frame) {
  const bool is_normal = frame.op().schema().name() == "aten::normal_";
  return count_draws(is_normal ? Drawing::Normal : Drawing::Uniform, frame.arg(0).toTensor());
}

}  // namespace tidemark::phantom
