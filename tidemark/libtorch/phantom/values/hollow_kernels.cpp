// A kernel before the CPU's own: what can be written down is not run, all else goes to the
// original.
#include "tidemark/libtorch/phantom/values/hollow_kernels.h"

#include <ATen/ATen.h>
#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/core/dispatch/Dispatcher.h>

#include <string>
#include <vector>

#include "tidemark/libtorch/phantom/cuda/torch_version.h"
#include "tidemark/libtorch/phantom/kernel/call_frame.h"
#include "tidemark/libtorch/phantom/kernel/quiet.h"
#include "tidemark/libtorch/phantom/kernel/silent_override.h"
#include "tidemark/libtorch/phantom/log/session.h"
#include "tidemark/libtorch/phantom/log/where.h"
#include "tidemark/libtorch/phantom/values/hollow_memory.h"
#include "tidemark/libtorch/phantom/values/hollow_steps.h"
#include "tidemark/libtorch/phantom/values/whole_storage.h"

#if TIDEMARK_TORCH_2_13

namespace tidemark::phantom {
namespace {

bool is_laid_out_plainly(const at::Tensor& tensor) {
  return tensor.strides() == at::IntArrayRef(c10::contiguous_strides(tensor.sizes()));
}

bool is_other_of_same_size(const at::Tensor& target, const at::Tensor& source) {
  return source.device().is_cpu() && source.layout() == at::kStrided &&
         source.sizes() == target.sizes() && !source.is_alias_of(target);
}

// Not one that is made of others, which come by themselves.
bool is_kernel_of_cpu(const c10::OperatorHandle& op) {
  return op.hasKernelForDispatchKey(c10::DispatchKey::CPU) ||
         (op.schema().name() == "aten::copy_" &&
          op.hasKernelForDispatchKey(c10::DispatchKey::CompositeExplicitAutograd));
}

StackId source_line() {
  StorageLog* log = storage_log();
  return log ? find_source(*log) : StackId();
}

class HollowKernel final : public c10::OperatorKernel {
 public:
  HollowKernel(const HollowOperator& what, c10::SafeKernelFunction original)
      : role_(what.role), original_(std::move(original)) {
    if (!what.in_place.empty())
      in_place_ = c10::Dispatcher::singleton().findSchema({std::string(what.in_place), "Tensor"});
  }

  void operator()(const c10::OperatorHandle& op, c10::DispatchKeySet keys,
                  torch::jit::Stack* stack) {
    CallFrame frame(op, *stack);
    const at::Tensor& first = frame.arg(0).toTensor();
    const bool may_be_hollow = is_over_block(first) && !is_filling();
    if (!may_be_hollow || !(in_place_ ? compute(frame) : write_down(frame, keys)))
      original_.callBoxed(op, keys, stack);
  }

 private:
  bool write_down(CallFrame& frame, c10::DispatchKeySet keys) {
    const at::Tensor& target = frame.arg(0).toTensor();
    const bool overwrites = role_ != Role::Change && covers_storage(target);
    std::optional<Step> step = draft_step(role_, frame);
    if (!step) {
      // What a tensor would have been is of no interest once real values come over all of it.
      if (role_ == Role::Copy && overwrites &&
          is_other_of_same_size(target, frame.arg(1).toTensor()))
        drop_contents(target);
      return false;
    }
    step->line = source_line();  // before the lock: this one may wait for Python's
    const auto lock = lock_recording();
    const std::optional<Contents> contents = untouched_contents(target);
    if (!contents) return false;
    if (!overwrites) step->before = contents->program;
    step->length += length_of(step->before);
    if (step->length > kLongestProgram) return false;
    if (role_ != Role::Copy) try_on_one(frame, keys);
    const bool is_zeros = role_ == Role::Fill && !step->before && fills_with_zeros(frame);
    return put(frame, is_zeros ? std::nullopt : std::move(step));
  }

  // Raises what the operator raises for its arguments.
  void try_on_one(const CallFrame& frame, c10::DispatchKeySet keys) const {
    at::AutoDispatchBelowADInplaceOrView below;
    torch::jit::Stack stack = frame.copy_of_args();
    stack[0] = at::zeros({1}, frame.arg(0).toTensor().options());
    if (role_ == Role::Draw) stack.back() = generator_from(at::mt19937());
    original_.callBoxed(frame.op(), keys, &stack);
  }

  // Makes it the tensor's contents; without a step these are zeros.
  bool put(CallFrame& frame, std::optional<Step> step) const {
    const at::Tensor& target = frame.arg(0).toTensor();
    if (role_ == Role::Draw) step->random = take_draws(generator_of(frame), *draws_of(frame));
    const auto random = step ? step->random : nullptr;
    if (!set_contents(target, step ? std::make_shared<const Step>(std::move(*step)) : nullptr)) {
      if (random) frame.arg(frame.count() - 1) = generator_from(*random);  // theirs has moved on
      return false;
    }
    c10::IValue first = frame.arg(0);
    frame.drop_args();
    frame.push(std::move(first));
    return true;
  }

  // As a copy that is then changed, both of which may be written down; where the result is laid out
  // and typed as the argument is.
  bool compute(CallFrame& frame) const {
    const at::Tensor self = frame.arg(0).toTensor();
    if (!is_laid_out_plainly(self) || !has_no_factor(frame) || !is_number(frame.arg(1)) ||
        at::result_type(self, frame.arg(1).toTensor()) != self.scalar_type() ||
        !at::isFloatingType(self.scalar_type()) || !untouched_contents(self))
      return false;
    at::AutoDispatchBelowADInplaceOrView below;
    QuietPython quiet;
    torch::jit::Stack stack = frame.copy_of_args();
    stack[0] = at::empty(self.sizes(), self.options()).copy_(self);
    in_place_->callBoxed(stack);
    frame.drop_args();
    frame.push(std::move(stack[0]));
    return true;
  }

  Role role_;
  c10::SafeKernelFunction original_;
  std::optional<c10::OperatorHandle> in_place_;
};

std::vector<c10::RegistrationHandleRAII> g_hollow_handles;

}  // namespace

void register_hollow_kernels() {
  SilentOverride override;
  c10::Dispatcher& dispatcher = c10::Dispatcher::singleton();
  for (const c10::OperatorName& name : dispatcher.getAllOpNames()) {
    const HollowOperator* what = find_hollow_operator(name);
    const auto op = what ? dispatcher.findSchema(name) : std::nullopt;
    if (!op || !is_kernel_of_cpu(*op)) continue;
    g_hollow_handles.push_back(
        override.put(name, c10::DispatchKey::CPU,
                     std::make_unique<HollowKernel>(
                         *what, op->getComputedKernelForDispatchKey(c10::DispatchKey::CPU))));
  }
}

void deregister_hollow_kernels() { g_hollow_handles.clear(); }

}  // namespace tidemark::phantom

#else  // the original kernel cannot be had there: large CPU tensors cost memory

namespace tidemark::phantom {
void register_hollow_kernels() {}
void deregister_hollow_kernels() {}
}  // namespace tidemark::phantom

#endif
