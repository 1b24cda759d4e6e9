// Observers on PyTorch's record-function mechanism: a few nanoseconds an operator.
#include "tidemark/libtorch/recorder/operators.h"

#include <ATen/record_function.h>
#include <c10/core/InferenceMode.h>
#include <c10/core/impl/LocalDispatchKeySet.h>
#include <c10/core/impl/TorchDispatchModeTLS.h>

#include <optional>
#include <string_view>

#include "tidemark/libtorch/recorder/allocators.h"
#include "tidemark/libtorch/recorder/forks.h"
#include "tidemark/libtorch/recorder/operator_origins.h"
#include "tidemark/libtorch/recorder/recorder.h"

namespace tidemark::recorder {
namespace {

using c10::DispatchKey;

struct OperatorFacts {
  bool only_calls_others = false;
  bool autocasts = false;  // under autocast it first casts, then calls itself
  bool resizes = false;    // may give a storage that exists a new size
  CallId call;             // as those who want origins name it
};

OperatorFacts look_up(const c10::OperatorName& name) {
  OperatorFacts facts;
  const auto op = c10::Dispatcher::singleton().findOp(name);
  if (!op) return facts;
  facts.only_calls_others = only_calls_others(*op);
  facts.autocasts = op->hasKernelForDispatchKey(DispatchKey::AutocastCPU) ||
                    op->hasKernelForDispatchKey(DispatchKey::AutocastCUDA);
  const std::string_view base = name.name;
  facts.resizes = base.starts_with("aten::resize") || base == "aten::set_" ||
                  name.overload_name.find("out") != std::string::npos;
  facts.call = Origins::instance().call(c10::toString(name), "");
  return facts;
}

struct KnownOperator {
  const char* name;
  OperatorFacts facts;
};
constexpr std::size_t kKnownOperators = 1024;
[[gnu::tls_model("initial-exec")]] constinit thread_local KnownOperator* t_known = nullptr;

// A schema lives as long as the process, so the address of its name is a name itself.
const OperatorFacts* facts_of(const at::RecordFunction& function) {
  if (!t_known) t_known = new KnownOperator[kKnownOperators]();  // as long-lived as the thread
  const char* const address = function.name();
  const auto bits = reinterpret_cast<std::uintptr_t>(address);
  KnownOperator& known = t_known[(bits >> 3 ^ bits >> 13) % kKnownOperators];
  if (known.name == address) return &known.facts;
  const auto name = function.operator_name();
  if (!name) return nullptr;  // a range of the user's or of the profiler's
  known = {address, look_up(*name)};
  return &known.facts;
}

bool autocast_is_on() {
  return !c10::impl::tls_is_dispatch_key_excluded(DispatchKey::AutocastCPU) ||
         !c10::impl::tls_is_dispatch_key_excluded(DispatchKey::AutocastCUDA);
}

bool is_border(const OperatorFacts& facts) {
  // In inference mode there is no autograd above, and composites come down as one.
  if (facts.only_calls_others && !c10::InferenceMode::is_enabled()) return false;
  return !(facts.autocasts && autocast_is_on());
}

// A wrapper of tensors is taken apart in Python, with everything above switched off. What it calls
// from there are operators of the program like any other; what those call is inside them again.
bool is_in_python_dispatch() {
  return c10::impl::tls_is_dispatch_key_excluded(DispatchKey::PythonTLSSnapshot);
}

// The operator around such a one, until that ends.
struct Around final : at::ObserverContext {
  explicit Around(const ThreadState& thread) : state(thread) {}
  ThreadState state;
};

// In a program of fake tensors its own mode takes operators apart in the same way, so there nothing
// inside an operator counts for itself.
bool counts_for_itself(const ThreadState& thread) {
  return !thread.is_pretending && !thread.in_python && !Recorder::instance().wants_outputs() &&
         is_in_python_dispatch();
}

void find_origin(const at::RecordFunction& function, const OperatorFacts& facts,
                 ThreadState& thread) {
  if (Recorder::instance().wants_origins()) thread.origin = origin_of(function, facts.call);
}

std::unique_ptr<at::ObserverContext> begin_inside(const at::RecordFunction& function,
                                                  ThreadState& thread) {
  const OperatorFacts* facts = counts_for_itself(thread) ? facts_of(function) : nullptr;
  if (!facts) {
    ++thread.operator_depth;
    return nullptr;
  }
  auto around = std::make_unique<Around>(thread);
  find_origin(function, *facts, thread);
  thread.operator_depth = 1;
  thread.in_python = true;
  thread.resizes = facts->resizes;
  thread.is_pretending = fake_mode_is_on();
  return around;
}

std::unique_ptr<at::ObserverContext> on_begin(const at::RecordFunction& function) {
  ThreadState& thread = this_thread();
  Recorder::instance().catch_up(thread, true);
  if (thread.operator_depth > 0) return begin_inside(function, thread);
  const OperatorFacts* facts = facts_of(function);
  if (!facts || !is_border(*facts)) return nullptr;
  find_origin(function, *facts, thread);
  thread.operator_depth = 1;
  thread.resizes = facts->resizes;
  thread.is_pretending = fake_mode_is_on() != Recorder::instance().wants_outputs();
  return nullptr;
}

void note_outputs(const at::RecordFunction& function);

// A fake tensor that an operator inside another returns may come out of that one in a wrapper,
// where nobody finds it; if it does not come out, it is dead by then.
bool may_be_wrapped() { return is_in_python_dispatch() && fake_mode_is_on(); }

// Operators that are no border end at depth 0, and those inside one above 1.
void on_end(const at::RecordFunction& function, at::ObserverContext* context) {
  ThreadState& thread = this_thread();
  if (thread.operator_depth == 0) return;
  const bool outputs = Recorder::instance().wants_outputs() && !thread.is_pretending;
  if (outputs && (thread.operator_depth == 1 || may_be_wrapped())) note_outputs(function);
  if (--thread.operator_depth > 0) return;
  if (thread.has_news && Recorder::instance().wants_origins())
    note_shapes(function.outputs(), thread.origin);
  const auto* around = static_cast<const Around*>(context);
  if (!around || !thread.is_pretending)
    Recorder::instance().note_operator_end(outputs ? attribution::kOutputsOnly : 0);
  thread.origin = around ? around->state.origin : Origin();
  thread.in_python = around && around->state.in_python;
  thread.operator_depth = around ? around->state.operator_depth : 0;
  thread.resizes = around && around->state.resizes;
  thread.is_pretending = around && around->state.is_pretending;
}

void note_tensor(const at::Tensor& tensor) {
  if (!tensor.defined() || !tensor.has_storage()) return;
  c10::StorageImpl& storage = *tensor.storage().unsafeGetStorageImpl();
  Recorder& recorder = Recorder::instance();
  const std::uint8_t device = recorder.device_number(tensor.device().str());
  const auto bytes = static_cast<std::int64_t>(storage.nbytes());
  if (bytes == 0) return;
  // A fake storage that was empty grows without its allocator.
  if (key_of(storage) == 0 && watch_storage(storage))
    recorder.note_birth(key_of(storage), bytes, device);
  recorder.note_output(key_of(storage), bytes, device);
}

void note_value(const c10::IValue& value) {
  if (value.isTensor()) return note_tensor(value.toTensor());
  if (value.isTensorList())
    for (const at::Tensor& tensor : value.toTensorVector()) note_tensor(tensor);
}

void note_outputs(const at::RecordFunction& function) {
  for (const c10::IValue& value : function.outputs()) note_value(value);
}

// The callbacks that PyTorch has of ours, if any.
struct Watch {
  ForkSafeMutex lock{LockPlace::Operators};
  std::optional<at::CallbackHandle> handle;
  bool outputs = false;

  void remove() {
    if (handle) at::removeCallback(*handle);
    handle.reset();
  }
};
Watch g_watch;

}  // namespace

bool only_calls_others(const c10::OperatorHandle& op) {
  return op.hasKernelForDispatchKey(DispatchKey::CompositeImplicitAutograd) &&
         !op.hasKernelForDispatchKey(DispatchKey::CPU) &&
         !op.hasKernelForDispatchKey(DispatchKey::CUDA);
}

// Fake tensors that somebody makes beside the program, to learn a shape, are none of its memory;
// and in a program of fake tensors, neither are those the mode makes while it is switched off.
bool fake_mode_is_on() {
  return c10::impl::TorchDispatchModeTLS::any_modes_set() &&
         c10::impl::TorchDispatchModeTLS::get_mode(c10::impl::TorchDispatchModeKey::FAKE)
             .has_value();
}

void watch_operators(bool outputs) {
  const std::lock_guard guard(g_watch.lock);
  if (g_watch.handle && g_watch.outputs == outputs) return;
  g_watch.remove();
  g_watch.outputs = outputs;
  g_watch.handle = at::addGlobalCallback(at::RecordFunctionCallback(&on_begin, &on_end)
                                             .scopes({at::RecordScope::FUNCTION})
                                             .needsOutputs(outputs));
}

void unwatch_operators() {
  const std::lock_guard guard(g_watch.lock);
  g_watch.remove();
}

}  // namespace tidemark::recorder
