// One boxed kernel an operator; operators that other libraries register later are met too.
#include "tidemark/torch/phantom/registration.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <c10/core/DispatchKey.h>

#include <memory>
#include <mutex>
#include <unordered_set>
#include <vector>

#include "tidemark/torch/phantom/kernel.h"

namespace tidemark::phantom {
namespace {

using c10::Dispatcher;
using c10::DispatchKey;
using c10::OperatorHandle;

std::vector<c10::RegistrationHandleRAII> g_handles;

// Composite operators are made of others, which reach us one by one.
bool is_only_composite(const OperatorHandle& op) {
  return op.hasKernelForDispatchKey(DispatchKey::CompositeImplicitAutograd) &&
         !op.hasKernelForDispatchKey(DispatchKey::CUDA) &&
         !op.hasKernelForDispatchKey(DispatchKey::CompositeExplicitAutograd) &&
         !op.hasKernelForDispatchKey(DispatchKey::Meta);
}

// Overriding a CUDA build's own kernels is the point; PyTorch would warn of each.
class NoWarnings final : public c10::WarningHandler {
 public:
  void process(const c10::Warning&) override {}
};

void register_kernel(const OperatorHandle& op) {
  g_handles.push_back(Dispatcher::singleton().registerImpl(
      op.operator_name(), DispatchKey::CUDA,
      c10::KernelFunction::makeFromBoxedFunctor(std::make_unique<PhantomKernel>(op)), {}, nullptr,
      "tidemark virtual GPU"));
}

// For operators without a kernel of their own on the CUDA key: those registered later.
void late_operator(const OperatorHandle& op, c10::DispatchKeySet keys, torch::jit::Stack* stack) {
  static std::mutex lock;
  static std::unordered_map<std::string, std::unique_ptr<PhantomKernel>> kernels;
  PhantomKernel* kernel = nullptr;
  {
    std::lock_guard guard(lock);
    auto& slot = kernels[op.schema().name() + "." + op.schema().overload_name()];
    if (!slot) slot = std::make_unique<PhantomKernel>(op);
    kernel = slot.get();
  }
  (*kernel)(op, keys, stack);
}

}  // namespace

void register_kernels() {
  NoWarnings quiet;
  c10::WarningUtils::WarningHandlerGuard guard(&quiet);
  Dispatcher& dispatcher = Dispatcher::singleton();
  g_handles.push_back(dispatcher.registerFallback(
      DispatchKey::CUDA, c10::KernelFunction::makeFromBoxedFunction<&late_operator>(),
      "tidemark virtual GPU"));
  for (const c10::OperatorName& name : dispatcher.getAllOpNames()) {
    const auto op = dispatcher.findSchema(name);
    if (op && !is_only_composite(*op)) register_kernel(*op);
  }
}

void deregister_kernels() { g_handles.clear(); }

}  // namespace tidemark::phantom
