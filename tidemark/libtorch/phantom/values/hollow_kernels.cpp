// A kernel before the CPU's own: hollow tensors stay hollow, all others go on to the original.
#include "tidemark/libtorch/phantom/values/hollow_kernels.h"

#include <ATen/ATen.h>
#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/core/dispatch/Dispatcher.h>

#include <array>
#include <string_view>
#include <vector>

#include "tidemark/libtorch/phantom/cuda/torch_version.h"
#include "tidemark/libtorch/phantom/kernel/call_frame.h"
#include "tidemark/libtorch/phantom/kernel/quiet.h"
#include "tidemark/libtorch/phantom/kernel/silent_override.h"
#include "tidemark/libtorch/phantom/values/hollow_memory.h"

#if TIDEMARK_TORCH_2_13

namespace tidemark::phantom {
namespace {

// Operators that draw or set every value of their first argument.
constexpr std::array<std::string_view, 9> kInitialisers = {
    "aten::normal_",      "aten::uniform_",    "aten::zero_",   "aten::fill_",  "aten::bernoulli_",
    "aten::exponential_", "aten::log_normal_", "aten::cauchy_", "aten::random_"};
// Operators that change their first argument by arithmetic: only a hollow one stays so.
constexpr std::array<std::string_view, 9> kInPlace = {
    "aten::mul_",    "aten::add_",       "aten::sub_",       "aten::div_", "aten::clamp_",
    "aten::erfinv_", "aten::clamp_min_", "aten::clamp_max_", "aten::sqrt_"};
// Operators whose results are hollow where an argument is.
constexpr std::array<std::string_view, 10> kElementwise = {
    "aten::mul", "aten::add",  "aten::sub", "aten::div",       "aten::neg",
    "aten::exp", "aten::sqrt", "aten::cat", "aten::linalg_qr", "aten::sign"};

enum class Role { Initialiser, InPlace, Copy, Elementwise };

template <class Names>
bool contains(const Names& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::optional<Role> role_of(std::string_view name) {
  if (contains(kInitialisers, name)) return Role::Initialiser;
  if (contains(kInPlace, name)) return Role::InPlace;
  if (contains(kElementwise, name)) return Role::Elementwise;
  return name == "aten::copy_" ? std::optional(Role::Copy) : std::nullopt;
}

class HollowKernel final : public c10::OperatorKernel {
 public:
  HollowKernel(Role role, c10::SafeKernelFunction original)
      : role_(role), original_(std::move(original)) {}

  void operator()(const c10::OperatorHandle& op, c10::DispatchKeySet keys,
                  torch::jit::Stack* stack) {
    CallFrame frame(op, *stack);
    if (!stays_hollow(frame)) original_.callBoxed(op, keys, stack);
  }

 private:
  bool stays_hollow(CallFrame& frame) {
    switch (role_) {
      case Role::Initialiser: return initialise(frame);
      case Role::InPlace: return is_hollow(frame.arg(0).toTensor()) && keep_first(frame);
      case Role::Copy: return copy(frame);
      case Role::Elementwise: return compute(frame);
    }
    return false;
  }

  static bool keep_first(CallFrame& frame) {
    c10::IValue first = frame.arg(0);
    frame.drop_args();
    frame.push(std::move(first));
    return true;
  }

  static bool initialise(CallFrame& frame) {
    const at::Tensor& target = frame.arg(0).toTensor();
    if (!may_be_hollow(target)) return false;
    set_hollow(target, true);
    return keep_first(frame);
  }

  // Real values that are copied in make a tensor real; hollow ones make it hollow.
  static bool copy(CallFrame& frame) {
    const at::Tensor &target = frame.arg(0).toTensor(), &source = frame.arg(1).toTensor();
    if (is_hollow(source) && may_be_hollow(target)) {
      set_hollow(target, true);
      return keep_first(frame);
    }
    set_hollow(target, false);
    return false;
  }

  static bool compute(CallFrame& frame) {
    bool any = false;
    for (std::size_t i = 0; i < frame.count(); ++i)
      for_each_tensor(frame.arg(i), [&](const at::Tensor& t) { any = any || is_hollow(t); });
    if (!any || frame.op().schema().is_mutable()) return false;
    at::AutoDispatchBelowADInplaceOrView below;
    QuietPython quiet;
    for (std::size_t i = 0; i < frame.count(); ++i)
      frame.arg(i) = with_tensors(frame.arg(i), [](const at::Tensor& t) {
        return t.defined() && t.dim() > 0 ? t.to(at::kMeta) : t;
      });
    frame.op().callBoxed(frame.stack());
    for (std::size_t i = 0; i < frame.result_count(); ++i)
      frame.result(i) =
          with_tensors(frame.result(i), [](const at::Tensor& t) { return hollow_like(t); });
    return true;
  }

  static at::Tensor hollow_like(const at::Tensor& meta) {
    if (!meta.defined()) return meta;
    at::Tensor made =
        at::empty_strided(meta.sizes(), meta.strides(), meta.options().device(at::kCPU));
    if (may_be_hollow(made)) set_hollow(made, true);
    else made.zero_();
    return made;
  }

  Role role_;
  c10::SafeKernelFunction original_;
};

std::vector<c10::RegistrationHandleRAII> g_hollow_handles;

}  // namespace

void register_hollow_kernels() {
  SilentOverride override;
  c10::Dispatcher& dispatcher = c10::Dispatcher::singleton();
  for (const c10::OperatorName& name : dispatcher.getAllOpNames()) {
    const auto role = role_of(name.name);
    const auto op = role ? dispatcher.findSchema(name) : std::nullopt;
    if (!op || !op->hasKernelForDispatchKey(c10::DispatchKey::CPU)) continue;
    g_hollow_handles.push_back(
        override.put(name, c10::DispatchKey::CPU,
                     std::make_unique<HollowKernel>(
                         *role, op->getComputedKernelForDispatchKey(c10::DispatchKey::CPU))));
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
