// Joins Python's line and module in the forward with autograd's node in the backward.
#include "tidemark/libtorch/phantom/log/where.h"

#include <ATen/SequenceNumber.h>
#include <ATen/record_function.h>
#include <c10/core/GradMode.h>
#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/functions/accumulate_grad.h>

#include <atomic>
#include <optional>

#include "tidemark/libtorch/attribution/forwards.h"
#include "tidemark/libtorch/phantom/log/module_calls.h"

namespace tidemark::phantom {
namespace {

// Set once, when Python's side is loaded: it belongs to no run.
std::atomic<FindSource> g_find_source{nullptr};

// What the backward of an operator is to be blamed on.
struct Forward {
  StackId source;
  ScopeId module;
};
constinit attribution::Forwards g_forwards;  // at a fixed address: every operator goes there

void remember(const Forward& forward) {
  const std::uint64_t next = at::sequence_number::peek();
  if (next == 0) return;
  const std::uint64_t both = (std::uint64_t{forward.source.value} + 1) << 32 |
                             static_cast<std::uint32_t>(forward.module.value + 1);
  g_forwards.remember(next - 1, at::RecordFunction::currentThreadId(), both);
}

// Nothing for nodes that answer to no operator: those that add up a leaf's gradient.
std::optional<Forward> forward_of(const torch::autograd::Node* node) {
  if (!node || node->sequence_nr() == UINT64_MAX) return std::nullopt;
  const std::uint64_t both = g_forwards.find(node->sequence_nr(), node->thread_id());
  const auto source = static_cast<std::uint32_t>(both >> 32),
             module = static_cast<std::uint32_t>(both);
  return Forward{source == 0 ? StackId() : StackId(source - 1),
                 module == 0 ? ScopeId() : ScopeId(module - 1)};
}

bool adds_up_gradient(const torch::autograd::Node* node) {
  return dynamic_cast<const torch::autograd::AccumulateGrad*>(node) != nullptr;
}

// A checkpoint's forward comes again inside the backward: it records, and has lines of its own. So
// does a hook on a gradient, be it an optimizer's step. A backward that is itself recorded runs
// without any Python code.
Whence find_in_backward(StorageLog& log, bool records) {
  Whence here{.flags = attribution::kInBackward};
  Place& place = here.place;
  const ScopeId module = current_module();
  const auto node = torch::autograd::get_current_node();
  const auto forward = forward_of(node.get());
  const StackId line = records ? find_source(log) : StackId();
  const bool recomputes = records && line;
  if (recomputes) here.flags |= attribution::kGradMode;
  place.scope = module;
  if (!module && StorageLog::has_purpose()) {
    place.scope = log.backward_module();
  } else if (!recomputes && !module && forward) {
    place.scope = forward->module;
    log.follow_backward(forward->module);
  }
  if (!recomputes && forward) place.stack = forward->source;
  if (!place.stack) place.stack = records ? line : find_source(log);
  const bool is_of_program = !log.in_optimizer() && !StorageLog::has_purpose();
  if (!forward && !place.stack && is_of_program && adds_up_gradient(node.get()))
    here.flags |= attribution::kOfGradient;
  if (!place.stack && forward) place.stack = forward->source;
  return here;
}

}  // namespace

void set_source_finder(FindSource find) { g_find_source = find; }

StackId find_source(StorageLog& log) {
  const FindSource find = g_find_source.load();
  return find ? find(log) : StackId();
}

Whence find_whence(StorageLog& log, bool needs_grad) {
  const bool records = needs_grad && c10::GradMode::is_enabled();
  if (is_in_backward()) {
    Whence here = find_in_backward(log, records);
    if (records) remember({here.place.stack, *here.place.scope});
    return here;
  }
  Whence here;
  here.place.stack = find_source(log);
  here.place.scope = current_module();
  log.follow_backward({});
  if (records) {
    remember({here.place.stack, *here.place.scope});
    log.begin_step_if_due();  // also in the closure that an optimizer's step is given
  }
  return here;
}

at::Tensor leaf_of_gradient() {
  const auto node = torch::autograd::get_current_node();
  const auto* adds_up = dynamic_cast<const torch::autograd::AccumulateGrad*>(node.get());
  return adds_up ? adds_up->variable : at::Tensor();
}

void forget_forwards() { g_forwards.forget(); }

}  // namespace tidemark::phantom
