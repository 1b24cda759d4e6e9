// Joins Python's line and module in the forward with autograd's node in the backward.
#include "tidemark/libtorch/phantom/log/where.h"

#include <ATen/SequenceNumber.h>
#include <ATen/record_function.h>
#include <c10/core/GradMode.h>
#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/functions/accumulate_grad.h>
#include <torch/csrc/autograd/graph_task.h>

#include <array>
#include <atomic>
#include <optional>

#include "tidemark/libtorch/phantom/log/module_calls.h"

namespace tidemark::phantom {
namespace {

std::atomic<FindSource> g_find_source{nullptr};
std::atomic<bool> g_in_optimizer{false};
std::atomic<bool> g_step_is_due{true};

// The source line and module of each recent forward operator, by its autograd sequence number: what
// the backward of that operator, which runs on a thread without Python code, is to be blamed on.
struct Forward {
  StackId source;
  ScopeId module;
};
constexpr std::size_t kRemembered = std::size_t{1} << 20;
std::array<std::atomic<std::uint64_t>, kRemembered> g_forwards{};

// Each thread counts for itself: recomputations run on the backward's.
std::atomic<std::uint64_t>& forward_at(std::uint64_t sequence, std::uint64_t thread) {
  return g_forwards[(sequence + thread * 0x9e3779b97f4a7c15) % kRemembered];
}

void remember(const Forward& forward) {
  const std::uint64_t next = at::sequence_number::peek();
  if (next == 0) return;
  const std::uint64_t both = (std::uint64_t{forward.source.value} + 1) << 32 |
                             static_cast<std::uint32_t>(forward.module.value + 1);
  forward_at(next - 1, at::RecordFunction::currentThreadId())
      .store(both, std::memory_order_relaxed);
}

// Nothing for nodes that answer to no operator: those that add up a leaf's gradient.
std::optional<Forward> forward_of(const torch::autograd::Node* node) {
  if (!node || node->sequence_nr() == UINT64_MAX) return std::nullopt;
  const std::uint64_t both = forward_at(node->sequence_nr(), node->thread_id()).load();
  const auto source = static_cast<std::uint32_t>(both >> 32),
             module = static_cast<std::uint32_t>(both);
  return Forward{source == 0 ? StackId() : StackId(source - 1),
                 module == 0 ? ScopeId() : ScopeId(module - 1)};
}

bool adds_up_gradient(const torch::autograd::Node* node) {
  return dynamic_cast<const torch::autograd::AccumulateGrad*>(node) != nullptr;
}

StackId python_source(StorageLog& log) {
  const FindSource find = g_find_source.load();
  return find ? find(log) : StackId();
}

// A checkpoint's forward comes again inside the backward: it records, and has lines of its own. So
// does a hook on a gradient, be it an optimizer's step.
Whereabouts find_in_backward(StorageLog& log, bool records) {
  Whereabouts here;
  Place& place = here.place;
  const ScopeId module = current_module();
  const auto node = torch::autograd::get_current_node();
  const auto forward = forward_of(node.get());
  place.phase = records ? Phase::Recompute : Phase::Backward;
  place.scope = module;
  if (!records && !module && forward) {
    place.scope = forward->module;
    log.follow_backward(forward->module);
  }
  if (!records && forward) place.stack = forward->source;
  if (!place.stack) place.stack = python_source(log);
  here.makes_gradient = !forward && !place.stack && !g_in_optimizer && adds_up_gradient(node.get());
  if (!place.stack && forward) place.stack = forward->source;
  return here;
}

}  // namespace

void set_source_finder(FindSource find) { g_find_source = find; }

Whereabouts find_whereabouts(StorageLog& log, bool needs_grad) {
  const bool records = needs_grad && c10::GradMode::is_enabled();
  if (torch::autograd::get_current_graph_task_id() != -1) {
    Whereabouts here = find_in_backward(log, records);
    if (records) remember({here.place.stack, *here.place.scope});
    return here;
  }
  Whereabouts here;
  Place& place = here.place;
  place.stack = python_source(log);
  place.scope = current_module();
  log.follow_backward({});
  if (records) {
    remember({place.stack, *place.scope});
    begin_step_if_due(log);  // also in the closure that an optimizer's step is given
  }
  if (g_in_optimizer) {
    place.phase = Phase::Optimizer;
    return here;
  }
  place.phase = log.step() > 0 ? Phase::Forward : Phase::Other;
  return here;
}

Category category_of_births(const Whereabouts& here, bool uses_phantoms) {
  if (here.makes_gradient) return Category::Gradient;
  switch (here.place.phase.value_or(Phase::Other)) {
    case Phase::Forward:
      return uses_phantoms || *here.place.scope ? Category::Activation : Category::Input;
    case Phase::Recompute: return Category::Activation;
    case Phase::Backward:
    case Phase::Optimizer: return Category::Temporary;
    default: return Category::Unknown;
  }
}

void begin_step_if_due(StorageLog& log) {
  if (g_step_is_due.load(std::memory_order_relaxed) && g_step_is_due.exchange(false))
    log.begin_step();
}

std::int64_t steps_done(const StorageLog& log) { return log.step() - (g_step_is_due ? 0 : 1); }

void enter_optimizer(StorageLog& log) {
  g_in_optimizer = true;
  log.begin_optimizer();
}

void leave_optimizer(StorageLog& log) {
  log.end_optimizer();
  g_in_optimizer = false;
  g_step_is_due = true;
}

void reset_where() {
  g_in_optimizer = false;
  g_step_is_due = true;
  for (auto& forward : g_forwards) forward.store(0, std::memory_order_relaxed);
}

}  // namespace tidemark::phantom
