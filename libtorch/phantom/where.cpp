// Joins Python's line in the forward with autograd's node in the backward.
#include "tidemark/torch/phantom/where.h"

#include <ATen/SequenceNumber.h>
#include <c10/core/GradMode.h>
#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/graph_task.h>

#include <array>
#include <atomic>

namespace tidemark::phantom {
namespace {

std::atomic<FindSource> g_find_source{nullptr};
std::atomic<bool> g_in_optimizer{false};
std::atomic<bool> g_step_is_due{true};

// The source line of each recent forward operator, by its autograd sequence number: what the
// backward of that operator, which runs on a thread without Python code, is to be blamed on.
constexpr std::size_t kRemembered = std::size_t{1} << 20;
std::array<std::atomic<std::uint32_t>, kRemembered> g_source_of_sequence{};

StackId source_of_backward() {
  const auto node = torch::autograd::get_current_node();
  if (!node) return {};
  const std::uint32_t source = g_source_of_sequence[node->sequence_nr() % kRemembered].load();
  return source == 0 ? StackId() : StackId(source - 1);
}

void remember_source(StackId source) {
  const std::uint64_t next = at::sequence_number::peek();
  if (next > 0 && source) g_source_of_sequence[(next - 1) % kRemembered] = source.value + 1;
}

// A checkpoint's forward comes again inside the backward: it records, and has lines of its own.
StackId find_source(StorageLog& log, bool in_backward, bool records) {
  StackId source = in_backward && !records ? source_of_backward() : StackId();
  if (FindSource find = g_find_source.load(); find && !source) source = find(log);
  return source || !in_backward ? source : source_of_backward();
}

}  // namespace

void set_source_finder(FindSource find) { g_find_source = find; }

Place place_of_call(StorageLog& log, bool needs_grad) {
  Place place;
  const bool in_backward = torch::autograd::get_current_graph_task_id() != -1;
  const bool records = needs_grad && c10::GradMode::is_enabled();
  place.stack = find_source(log, in_backward, records);
  if (records) remember_source(place.stack);
  if (in_backward) {
    place.phase = Phase::Backward;
    return place;
  }
  if (g_in_optimizer) {
    place.phase = Phase::Optimizer;
    return place;
  }
  if (records && g_step_is_due.exchange(false)) log.begin_step();
  place.phase = log.step() > 0 ? Phase::Forward : Phase::Other;
  return place;
}

void enter_optimizer() { g_in_optimizer = true; }

void leave_optimizer() {
  g_in_optimizer = false;
  g_step_is_due = true;
}

void reset_where() {
  g_in_optimizer = false;
  g_step_is_due = true;
  for (auto& source : g_source_of_sequence) source.store(0, std::memory_order_relaxed);
}

}  // namespace tidemark::phantom
