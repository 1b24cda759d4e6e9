// One boxed kernel an operator; operators that other libraries register later are met too.
#include "tidemark/libtorch/phantom/kernel/registration.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <c10/core/DispatchKey.h>

#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "tidemark/libtorch/phantom/kernel/kernel.h"
#include "tidemark/libtorch/phantom/kernel/quick_views.h"
#include "tidemark/libtorch/phantom/kernel/silent_override.h"

namespace tidemark::phantom {
namespace {

using c10::Dispatcher;
using c10::DispatchKey;
using c10::OperatorHandle;

std::vector<c10::RegistrationHandleRAII> g_handles;
std::mutex g_late_lock;
std::unordered_map<std::string, std::unique_ptr<PhantomKernel>> g_late_kernels;

// Composite operators are made of others, which reach us one by one.
bool is_only_composite(const OperatorHandle& op) {
  return op.hasKernelForDispatchKey(DispatchKey::CompositeImplicitAutograd) &&
         !op.hasKernelForDispatchKey(DispatchKey::CUDA) &&
         !op.hasKernelForDispatchKey(DispatchKey::CompositeExplicitAutograd) &&
         !op.hasKernelForDispatchKey(DispatchKey::Meta);
}

// Collectives only hand their tensors to the process group, whose work reaches us.
bool is_collective(const OperatorHandle& op) {
  return op.schema().name().starts_with("c10d::") && op.hasKernelForDispatchKey(DispatchKey::CUDA);
}

c10::KernelFunction kernel_for(const OperatorHandle& op) {
  c10::KernelFunction quick = quick_view(op);
  if (quick.isValid()) return quick;
  return c10::KernelFunction::makeFromBoxedFunctor(std::make_unique<PhantomKernel>(op));
}

// For operators without a kernel of their own on the CUDA key: those registered later.
void late_operator(const OperatorHandle& op, c10::DispatchKeySet keys, torch::jit::Stack* stack) {
  PhantomKernel* kernel = nullptr;
  {
    std::lock_guard guard(g_late_lock);
    auto& slot = g_late_kernels[op.schema().name() + "." + op.schema().overload_name()];
    if (!slot) slot = std::make_unique<PhantomKernel>(op);
    kernel = slot.get();
  }
  (*kernel)(op, keys, stack);
}

}  // namespace

void register_kernels() {
  SilentOverride override;
  Dispatcher& dispatcher = Dispatcher::singleton();
  g_handles.push_back(dispatcher.registerFallback(
      DispatchKey::CUDA, c10::KernelFunction::makeFromBoxedFunction<&late_operator>(),
      "tidemark virtual GPU"));
  for (const c10::OperatorName& name : dispatcher.getAllOpNames()) {
    const auto op = dispatcher.findSchema(name);
    if (!op || is_only_composite(*op) || is_collective(*op)) continue;
    g_handles.push_back(override.put(name, DispatchKey::CUDA, kernel_for(*op)));
  }
}

void deregister_kernels() {
  g_handles.clear();
  g_late_kernels.clear();  // their memos name calls of this run's tape
}

}  // namespace tidemark::phantom
