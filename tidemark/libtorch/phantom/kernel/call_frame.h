// One operator call on its way through our kernel: arguments on the stack, results in their place.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>
#include <c10/core/GradMode.h>

#include <initializer_list>
#include <optional>
#include <utility>
#include <vector>

#include "tidemark/libtorch/phantom/device/phantom_tensor.h"
#include "tidemark/libtorch/phantom/device/virtual_gpus.h"

namespace tidemark::phantom {

// Calls visit(tensor) for every tensor of a value, nested lists too; undefined ones included.
template <class Visit>
void for_each_tensor(const c10::IValue& value, Visit&& visit) {
  if (value.isTensor()) {
    visit(value.toTensor());
  } else if (value.isList()) {
    for (const c10::IValue& one : value.toListRef()) {
      if (one.isNone() && value.isOptionalTensorList()) visit(at::Tensor());
      else for_each_tensor(one, visit);
    }
  }
}

// The same value with every tensor replaced by change(tensor).
template <class Change>
c10::IValue with_tensors(const c10::IValue& value, Change&& change) {
  if (value.isTensor()) return change(value.toTensor());
  if (value.isTensorList()) {
    c10::List<at::Tensor> changed;
    for (at::Tensor tensor : value.toTensorList()) changed.push_back(change(tensor));
    return changed;
  }
  if (value.isOptionalTensorList()) {
    c10::List<std::optional<at::Tensor>> changed;
    for (const std::optional<at::Tensor>& tensor : value.toOptionalTensorList())
      changed.push_back(tensor ? std::optional(change(*tensor)) : std::nullopt);
    return changed;
  }
  if (value.isList() && !value.toListRef().empty() && value.toListRef()[0].isTensorList()) {
    c10::List<c10::List<at::Tensor>> changed;
    for (const c10::IValue& one : value.toListRef())
      changed.push_back(with_tensors(one, change).toTensorList());
    return changed;
  }
  return value;
}

// The dimension that a call is told to work along, if any.
std::optional<std::int64_t> told_dim(const c10::OperatorHandle& op,
                                     c10::ArrayRef<c10::IValue> args);

class CallFrame {
 public:
  CallFrame(const c10::OperatorHandle& op, torch::jit::Stack& stack)
      : op_(op),
        stack_(stack),
        count_(op.schema().arguments().size()),
        base_(stack.size() - count_) {}

  const c10::OperatorHandle& op() const { return op_; }
  std::size_t count() const { return count_; }
  c10::IValue& arg(std::size_t i) { return stack_[base_ + i]; }
  const c10::IValue& arg(std::size_t i) const { return stack_[base_ + i]; }

  // Looks at every argument once: is a phantom among them, and on which device does it happen?
  void look();
  bool touches_phantoms() const { return touches_phantoms_; }
  bool asks_for_cuda() const { return asks_for_cuda_; }
  bool asks_for_cpu() const { return asks_for_cpu_; }
  // Does autograd record the call, for a phantom that wants a gradient?
  bool is_recorded() const { return is_recorded_; }
  // Do tensors of two devices meet, other than single numbers of the CPU?
  bool is_mixed() const { return is_mixed_; }
  // Is every tensor argument's value known (or is there none)? Is any phantom's?
  bool all_known() const { return all_known_; }
  bool any_known() const { return any_known_; }
  c10::Device device() const { return device_; }

  torch::jit::Stack& stack() { return stack_; }
  // Until results are pushed.
  c10::ArrayRef<c10::IValue> args() const {
    return c10::ArrayRef<c10::IValue>(stack_.data() + base_, count_);
  }
  std::vector<c10::IValue> copy_of_args() const {
    return {stack_.begin() + static_cast<std::ptrdiff_t>(base_), stack_.end()};
  }
  // Puts arguments in the place of whatever a broken-off call has left there.
  void put_args(std::vector<c10::IValue> args) {
    stack_.resize(base_);
    for (c10::IValue& value : args) stack_.push_back(std::move(value));
  }
  // Takes argument by argument: leaves nothing where a tensor was.
  at::Tensor take_tensor(std::size_t i) { return std::move(stack_[base_ + i]).toTensor(); }
  // Takes the arguments off the stack; results are pushed in their place.
  void drop_args() { torch::jit::drop(stack_, count_); }
  void push(c10::IValue value) { stack_.push_back(std::move(value)); }
  // Puts the results in the arguments' place; undefined ones, too. True, as special operators say.
  bool answer(std::initializer_list<at::Tensor> results) {
    drop_args();
    for (const at::Tensor& result : results) push(result);
    return true;
  }
  std::size_t result_count() const { return op_.schema().returns().size(); }
  // Is it a call that is given the tensor to write to?
  bool has_out() const { return op_.schema().arguments().back().is_out(); }
  c10::IValue& result(std::size_t i) { return stack_[base_ + i]; }

 private:
  void look_at(const at::Tensor& tensor);

  const c10::OperatorHandle& op_;
  torch::jit::Stack& stack_;
  std::size_t count_, base_;
  bool touches_phantoms_ = false, asks_for_cuda_ = false, asks_for_cpu_ = false;
  bool is_recorded_ = false, all_known_ = true, any_known_ = false;
  bool is_mixed_ = false, touches_host_ = false;
  const bool autograd_records_ = c10::GradMode::is_enabled();
  c10::Device device_{c10::DeviceType::CUDA, current_device()};
};

}  // namespace tidemark::phantom
