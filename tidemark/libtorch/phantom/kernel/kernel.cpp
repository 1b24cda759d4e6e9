// Memo, twins, values: the path of a call.
#include "tidemark/libtorch/phantom/kernel/kernel.h"

#include <ATen/core/dispatch/Dispatcher.h>

#include <algorithm>

#include "tidemark/libtorch/phantom/kernel/composite_call.h"
#include "tidemark/libtorch/phantom/kernel/same_device.h"
#include "tidemark/libtorch/phantom/kernel/signature.h"
#include "tidemark/libtorch/phantom/kernel/twin_call.h"
#include "tidemark/libtorch/phantom/kernel/written_arguments.h"
#include "tidemark/libtorch/phantom/log/session.h"
#include "tidemark/libtorch/phantom/log/where.h"
#include "tidemark/libtorch/phantom/values/known_bytes.h"

namespace tidemark::phantom {
namespace {

std::string full_name(const c10::OperatorHandle& op) {
  const auto& name = op.operator_name();
  return name.overload_name.empty() ? name.name : name.name + "." + name.overload_name;
}

bool is_one_of(std::string_view name, std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool shares_without_writing(const c10::FunctionSchema& schema) {
  const auto& returns = schema.returns();
  return !returns.empty() && std::all_of(returns.begin(), returns.end(), [](auto& r) {
    return r.alias_info() && !r.alias_info()->isWrite();
  });
}

// PyTorch's own operators have few such: arange(0, 2.5, out=...), and factors of upsampling.
bool may_change_shapes_by_floats(const c10::FunctionSchema& schema) {
  const auto& arguments = schema.arguments();
  return !schema.name().starts_with("aten::") ||
         is_one_of(schema.name(), {"aten::arange", "aten::range"}) ||
         std::any_of(arguments.begin(), arguments.end(),
                     [](const c10::Argument& a) { return a.name() == "scale_factors"; });
}

// Autograd hands a gradient over as a view of what the backward made.
void label_gradients(CallFrame& frame) {
  for (std::size_t i = 0; i < frame.result_count(); ++i)
    for_each_tensor(frame.result(i), &label_gradient);
}

std::vector<at::Tensor> tensors_of(const CallFrame& frame) {
  std::vector<at::Tensor> tensors;
  for (std::size_t i = 0; i < frame.count(); ++i)
    for_each_tensor(frame.arg(i), [&](const at::Tensor& t) { tensors.push_back(t); });
  return tensors;
}

}  // namespace

OperatorFacts::OperatorFacts(const c10::OperatorHandle& op)
    : name(full_name(op)),
      special(find_special(op.operator_name().name)),
      plausible(find_plausible(op.operator_name().name)),
      workspaces(find_workspaces(name)) {
  const c10::FunctionSchema& schema = op.schema();
  const std::string& base = schema.name();
  const bool reshapes = only_reshapes(op);
  writes = writes_any_argument(op) && !reshapes;
  overwrites = is_one_of(base, {"aten::zero_", "aten::fill_", "aten::copy_"});
  floats_change_shapes = may_change_shapes_by_floats(schema);
  fills = is_one_of(base, {"aten::zeros_like", "aten::ones_like", "aten::full_like",
                           "aten::new_zeros", "aten::new_ones", "aten::new_full"});
  reads_no_buffer = base == "aten::log_sigmoid_backward";
  mixes_devices = may_mix_devices(base);
  is_view = shares_without_writing(schema);
  leaves_values_open = reshapes || base.find("empty") != std::string::npos;
  is_random = op.hasTag(at::Tag::nondeterministic_seeded);
  may_memo = !reshapes && !op.hasTag(at::Tag::dynamic_output_shape) &&
             !op.hasTag(at::Tag::data_dependent_output);
}

void PhantomKernel::operator()(const c10::OperatorHandle& op, c10::DispatchKeySet,
                               torch::jit::Stack* stack) {
  CallFrame frame(op, *stack);
  frame.look();
  if (!frame.touches_phantoms() && !frame.asks_for_cuda()) return run_on_meta(op, stack);
  count_op();
  Whence here = find_whence(*storage_log(), frame.is_recorded());
  here.op = facts_.name.c_str();
  if (!frame.touches_phantoms()) here.flags |= attribution::kOfNothing;
  const WhenceGuard guard(here);
  if (!run_special(frame)) run(frame);
  if (makes_gradient(here)) label_gradients(frame);
}

void PhantomKernel::run_on_meta(const c10::OperatorHandle& op, torch::jit::Stack* stack) const {
  Whence here = current_whence();
  here.op = facts_.name.c_str();
  const WhenceGuard guard(here);
  op.redispatchBoxed(c10::DispatchKeySet(c10::DispatchKey::Meta), stack);
}

bool PhantomKernel::run_special(CallFrame& frame) {
  if (!facts_.special) return false;
  set_current_call(named_call());
  return facts_.special(frame);
}

CallId PhantomKernel::named_call() {
  std::call_once(named_, [this] { name_ = storage_log()->call(facts_.name, ""); });
  return name_;
}

bool PhantomKernel::may_compute(const CallFrame& frame) const {
  if (facts_.leaves_values_open || facts_.is_view) return false;
  return frame.all_known() || facts_.overwrites || facts_.fills;
}

void PhantomKernel::run(CallFrame& frame) {
  if (frame.is_mixed() && !facts_.mixes_devices) check_devices(frame);
  const std::optional<MemoKey> key = facts_.may_memo && session_options().memo
                                         ? memo_key(frame, facts_.floats_change_shapes)
                                         : std::nullopt;
  const MemoEntry* entry = key ? find(*key) : nullptr;
  const bool computes = may_compute(frame) && (!entry || entry->may_be_known);
  const bool forgets = facts_.writes && frame.any_known();
  std::vector<c10::IValue> args;
  if (computes || forgets || facts_.plausible) args = frame.copy_of_args();
  bool may_be_known = true;
  if (entry) {
    count_memo_hit();
    set_current_call(entry->call);
    if (entry->measured) entry->apply(frame, *entry->measured);
    else entry->apply(frame, workspaces_of(frame));
  } else {
    const std::optional<const MemoEntry*> learned = learn(frame, key);
    if (!learned) return static_cast<void>(run_parts(frame));
    if (*learned) may_be_known = (*learned)->may_be_known;
  }
  if (computes && facts_.fills) args[0] = shape_on_host(args[0].toTensor());
  if (computes && facts_.reads_no_buffer) args[2] = log_sigmoid_buffer_on_host(args[1].toTensor());
  if (computes && may_be_known) compute_known(frame, args, facts_.is_random);
  else if (forgets) forget_written(frame.op(), args);
  if (facts_.plausible) facts_.plausible(frame, args);
}

const MemoEntry* PhantomKernel::find(const MemoKey& key) {
  std::lock_guard lock(lock_);
  auto found = memo_.find(key);
  return found == memo_.end() ? nullptr : found->second.get();
}

Workspaces PhantomKernel::workspaces_of(const CallFrame& frame) const {
  return facts_.workspaces ? facts_.workspaces(frame) : Workspaces();
}

std::optional<const MemoEntry*> PhantomKernel::learn(CallFrame& frame,
                                                     const std::optional<MemoKey>& key) {
  const std::string signature = signature_of(frame);
  const Pieces* const measured = session_options().calibration.find(facts_.name, signature);
  Workspaces workspaces = workspaces_of(frame);
  if (measured) workspaces.set_measured(*measured);
  const auto name_call = [&](const std::string& results) {
    set_current_call(storage_log()->call(facts_.name, signature + results));
  };
  name_call("");
  const std::vector<at::Tensor> inputs = tensors_of(frame);
  const MemoKey before = facts_.writes ? layout_key(inputs) : MemoKey();
  const TwinAnswer answer = call_on_twins(frame, workspaces, [&] { name_call(results_of(frame)); });
  if (answer == TwinAnswer::HasParts) return std::nullopt;
  // A recipe makes results; it does not resize an `out=` that did not fit.
  if (!key || (facts_.writes && layout_key(inputs) != before)) return nullptr;
  std::unique_ptr<MemoEntry> entry = MemoEntry::learn(frame, inputs);
  if (!entry) return nullptr;
  entry->call = current_place().call;
  if (measured) entry->measured = workspaces;
  std::lock_guard lock(lock_);
  return memo_.insert_or_assign(*key, std::move(entry)).first->second.get();
}

}  // namespace tidemark::phantom
