// One boxed kernel on the key below autograd, for all operators whose place there is free.
#include "tidemark/libtorch/recorder/marked_kernels.h"

#include <ATen/core/stack.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "tidemark/libtorch/recorder/forks.h"
#include "tidemark/libtorch/recorder/operators.h"
#include "tidemark/libtorch/recorder/recorder.h"

namespace tidemark::recorder {
namespace {

using c10::DispatchKey;

class InsideKernel {
 public:
  InsideKernel() : thread_(this_thread()) { ++thread_.marked_kernels; }
  ~InsideKernel() { --thread_.marked_kernels; }
  InsideKernel(const InsideKernel&) = delete;
  InsideKernel& operator=(const InsideKernel&) = delete;

 private:
  ThreadState& thread_;
};

void pass_on(const c10::OperatorHandle& op, c10::DispatchKeySet keys, torch::jit::Stack* stack) {
  const InsideKernel inside;
  op.redispatchBoxed(keys & c10::after_ADInplaceOrView_keyset, stack);
}

// Names of dimensions look like strings in a schema, but cannot be put on a stack.
bool has_dimension_names(const c10::FunctionSchema& schema) {
  const auto& arguments = schema.arguments();
  return std::any_of(arguments.begin(), arguments.end(), [](const c10::Argument& argument) {
    const std::string& name = argument.name();
    const bool may_be_names = name == "names" || name == "order" || name.starts_with("dim");
    return may_be_names && argument.type()->str().find("str") != std::string::npos;
  });
}

bool needs_mark(const c10::OperatorHandle& op) {
  if (!op.hasSchema() || op.hasKernelForDispatchKey(DispatchKey::ADInplaceOrView)) return false;
  return !only_calls_others(op) && !has_dimension_names(op.schema());
}

struct Operators {
  ForkSafeMutex lock{LockPlace::Kernels};
  std::atomic<bool> has_new{false};
};
Operators g_operators;

class Newcomers final : public c10::OpRegistrationListener {
 public:
  void onOperatorRegistered(const c10::OperatorHandle&) override { g_operators.has_new = true; }
  void onOperatorDeregistered(const c10::OperatorHandle&) override {}
};

// Neither is ever given back.
struct Registrations {
  std::vector<c10::RegistrationHandleRAII> kernels;
  c10::RegistrationHandleRAII newcomers =
      c10::Dispatcher::singleton().addRegistrationListener(std::make_unique<Newcomers>());
};

}  // namespace

void mark_operators() {
  const std::lock_guard guard(g_operators.lock);
  static auto* const registrations = new Registrations();
  if (!g_operators.has_new.exchange(false)) return;
  c10::Dispatcher& dispatcher = c10::Dispatcher::singleton();
  for (const c10::OperatorName& name : dispatcher.getAllOpNames()) {
    const auto op = dispatcher.findOp(name);
    if (!op || !needs_mark(*op)) continue;
    registrations->kernels.push_back(dispatcher.registerImpl(
        name, DispatchKey::ADInplaceOrView, c10::KernelFunction::makeFromBoxedFunction<&pass_on>(),
        {}, nullptr, "tidemark"));
  }
}

}  // namespace tidemark::recorder
