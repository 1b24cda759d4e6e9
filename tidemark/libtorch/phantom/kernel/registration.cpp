// One boxed kernel an operator, over whatever its library brought for CUDA, then or later.
#include "tidemark/libtorch/phantom/kernel/registration.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <c10/core/DispatchKey.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "tidemark/libtorch/phantom/kernel/kernel.h"
#include "tidemark/libtorch/phantom/kernel/quick_views.h"
#include "tidemark/libtorch/phantom/kernel/silent_override.h"
#include "tidemark/libtorch/phantom/log/session.h"

namespace tidemark::phantom {
namespace {

using c10::Dispatcher;
using c10::DispatchKey;
using c10::OperatorHandle;
using c10::OperatorName;

// The newest kernel of a key is the one that runs; the handle takes ours off again.
struct Standing {
  c10::KernelFunction kernel;
  bool is_late;
  c10::RegistrationHandleRAII handle;
};

// All that is registered while the virtual GPUs are on.
struct Registered {
  std::unordered_map<OperatorName, Standing> standing;
  std::vector<c10::KernelFunction> replaced;  // a call of one may still be under way
  std::vector<c10::RegistrationHandleRAII> handles;
  std::atomic<bool> has_new_definitions{false};
  std::mutex late_lock;
  std::unordered_map<OperatorName, std::unique_ptr<PhantomKernel>> late_kernels;
};
Registered g_registered;

// Told of definitions, not of kernels. The dispatcher is locked meanwhile.
class Definitions final : public c10::OpRegistrationListener {
 public:
  void onOperatorRegistered(const OperatorHandle&) override {
    g_registered.has_new_definitions = true;
  }
  void onOperatorDeregistered(const OperatorHandle&) override {}
};

// Made of others on a CPU build of torch. CUDA has one kernel for it, whose gradient keeps less;
// autograd's own is there in every build, and is taken where the CUDA key has a kernel.
bool is_one_on_cuda(const OperatorHandle& op) {
  return session_options().cuda_choices && op.schema().name() == "aten::_fused_rms_norm";
}

// Composite operators are made of others, which reach us one by one.
bool is_only_composite(const OperatorHandle& op) {
  return op.hasKernelForDispatchKey(DispatchKey::CompositeImplicitAutograd) &&
         !is_one_on_cuda(op) && !op.hasKernelForDispatchKey(DispatchKey::CUDA) &&
         !op.hasKernelForDispatchKey(DispatchKey::CompositeExplicitAutograd) &&
         !op.hasKernelForDispatchKey(DispatchKey::Meta);
}

// Collectives only hand their tensors to the process group, whose work reaches us.
bool is_collective(const OperatorHandle& op) {
  return op.schema().name().starts_with("c10d::") && op.hasKernelForDispatchKey(DispatchKey::CUDA);
}

// One kernel for every device and no word of shapes: CUDA would run it, and so do we.
bool is_only_a_body(const OperatorHandle& op) {
  return op.hasKernelForDispatchKey(DispatchKey::CompositeExplicitAutograd) &&
         !op.hasKernelForDispatchKey(DispatchKey::CUDA) &&
         !op.hasKernelForDispatchKey(DispatchKey::Meta);
}

c10::KernelFunction kernel_for(const OperatorHandle& op) {
  c10::KernelFunction quick = quick_view(op);
  if (quick.isValid()) return quick;
  return c10::KernelFunction::makeFromBoxedFunctor(std::make_unique<PhantomKernel>(op));
}

void stand(const OperatorName& name, const c10::KernelFunction& kernel, bool is_late) {
  SilentOverride override;
  g_registered.standing.emplace(
      name, Standing{kernel, is_late, override.put(name, DispatchKey::CUDA, kernel)});
}

// Ours off, so that theirs can be seen; true if it stood there.
bool step_down(const OperatorName& name) {
  const auto found = g_registered.standing.find(name);
  if (found == g_registered.standing.end()) return false;
  g_registered.replaced.push_back(found->second.kernel);
  g_registered.standing.erase(found);
  return true;
}

void stand_anew(const OperatorHandle& op) {
  step_down(op.operator_name());
  if (!is_only_composite(op) && !is_collective(op) && !is_only_a_body(op))
    stand(op.operator_name(), kernel_for(op), /*is_late=*/true);
}

// The same kernel, with what it has learned, over what came since.
void stand_again(const OperatorName& name) {
  const Standing& there = g_registered.standing.at(name);
  const c10::KernelFunction kernel = there.kernel;
  const bool is_late = there.is_late;
  g_registered.standing.erase(name);
  stand(name, kernel, is_late);
}

// For operators without a kernel of their own on the CUDA key: those registered later.
void late_operator(const OperatorHandle& op, c10::DispatchKeySet keys, torch::jit::Stack* stack) {
  PhantomKernel* kernel = nullptr;
  {
    std::lock_guard guard(g_registered.late_lock);
    auto& slot = g_registered.late_kernels[op.operator_name()];
    if (!slot) slot = std::make_unique<PhantomKernel>(op);
    kernel = slot.get();
  }
  (*kernel)(op, keys, stack);
}

std::vector<OperatorName> late_names() {
  std::vector<OperatorName> names;
  for (const auto& [name, standing] : g_registered.standing)
    if (standing.is_late) names.push_back(name);
  return names;
}

}  // namespace

void register_kernels() {
  Dispatcher& dispatcher = Dispatcher::singleton();
  g_registered.handles.push_back(dispatcher.registerFallback(
      DispatchKey::CUDA, c10::KernelFunction::makeFromBoxedFunction<&late_operator>(),
      "tidemark virtual GPU"));
  g_registered.handles.push_back(
      dispatcher.addRegistrationListener(std::make_unique<Definitions>()));
  for (const OperatorName& name : dispatcher.getAllOpNames()) {
    const auto op = dispatcher.findSchema(name);
    if (!op || is_only_composite(*op) || is_collective(*op)) continue;
    stand(name, kernel_for(*op), /*is_late=*/false);
  }
  g_registered.has_new_definitions = false;  // a listener is told of those that are there
}

void stand_over(const std::string& name) {
  const std::size_t dot = name.find('.');
  const OperatorName parts(name.substr(0, dot),
                           dot == std::string::npos ? "" : name.substr(dot + 1));
  const auto op = Dispatcher::singleton().findSchema(parts);
  if (op) stand_anew(*op);
}

void stand_over_library(bool is_of_torch) {
  const bool all = g_registered.has_new_definitions.exchange(false) || is_of_torch;
  Dispatcher& dispatcher = Dispatcher::singleton();
  for (const OperatorName& name : all ? dispatcher.getAllOpNames() : late_names()) {
    if (g_registered.standing.contains(name)) stand_again(name);
    else if (const auto op = dispatcher.findSchema(name)) stand_anew(*op);
  }
}

void deregister_kernels() {
  g_registered.handles.clear();
  g_registered.standing.clear();
  g_registered.replaced.clear();
  g_registered.late_kernels.clear();  // their memos name calls of this run's tape
}

}  // namespace tidemark::phantom
