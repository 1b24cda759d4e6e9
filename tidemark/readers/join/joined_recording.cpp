// Operators with the tensors of their nodes, and allocations; the tree follows from times.
#include "tidemark/readers/join/joined_recording.h"

namespace tidemark::join {
namespace {

using chakra::Argument;
using chakra::ArgumentKind;
using chakra::ExecutionNodes;
using chakra::Node;
using dataflow::EventKind;
using dataflow::Recording;
using dataflow::RecordScope;
using dataflow::ValueKind;
using kineto::MemoryRow;
using kineto::Span;
using kineto::TraceContents;

ValueKind kind_of(ArgumentKind kind) {
  switch (kind) {
    case ArgumentKind::Nothing: return ValueKind::Nothing;
    case ArgumentKind::Tensor: return ValueKind::Tensor;
    case ArgumentKind::TensorList: return ValueKind::TensorList;
    case ArgumentKind::Bool: return ValueKind::Bool;
    case ArgumentKind::Int: return ValueKind::Int;
    case ArgumentKind::Float: return ValueKind::Float;
    case ArgumentKind::Other: return ValueKind::Nothing;  // as a profiler records it
  }
  return ValueKind::Nothing;
}

RecordScope scope_of(std::uint32_t scope) {
  if (scope == 0) return RecordScope::Function;
  if (scope == chakra::kBackwardScope) return RecordScope::BackwardFunction;
  return scope == chakra::kUserScope ? RecordScope::User : RecordScope::Other;
}

class Making {
 public:
  Making(const TraceContents& trace, const ExecutionNodes& nodes, const BoundStorages& bound)
      : trace_(trace), nodes_(nodes), bound_(bound), threads_(trace.threads.size()) {
    // The execution trace counts threads itself, and names forward threads by that.
    for (std::size_t t = 0; t < threads_.size(); ++t) threads_[t] = kFirstOther + t;
    for (std::uint32_t i = 0; i < trace.spans.size(); ++i)
      if (bound.nodes[i] != kNone)
        threads_[trace.spans[i].thread] = nodes.nodes[bound.nodes[i]].thread;
  }

  Recording run() {
    for (const std::string& name : trace_.devices) recording_.device(name);
    for (std::uint32_t i = 0; i < trace_.spans.size(); ++i)
      if (kineto::is_call(trace_.spans[i].kind)) add_operator(trace_.spans[i], i);
    for (std::uint32_t i = 0; i < trace_.memory.size(); ++i) add_allocation(trace_.memory[i], i);
    return std::move(recording_);
  }

 private:
  static constexpr std::uint64_t kFirstOther = std::uint64_t{1} << 32;

  void add_event(std::int64_t start_ns, std::int64_t end_ns, std::uint16_t thread, EventKind kind,
                 std::size_t detail, StringId name = {}) {
    recording_.events.push_back({.start_ns = start_ns,
                                 .end_ns = end_ns,
                                 .thread = threads_[thread],
                                 .detail = static_cast<std::uint32_t>(detail),
                                 .name = name,
                                 .kind = kind});
  }

  void add_operator(const Span& span, std::uint32_t number) {
    dataflow::Operator op;
    op.first_input = static_cast<std::uint32_t>(recording_.inputs.size());
    const std::uint32_t node = bound_.nodes[number];
    if (node != kNone) add_inputs(nodes_.nodes[node], op);
    op.input_count = static_cast<std::uint32_t>(recording_.inputs.size()) - op.first_input;
    const StringId name =
        recording_.names.intern(trace_.builder.tables().op_name(CallId(span.row)));
    add_event(span.start_ns, span.end_ns, span.thread, EventKind::Operator,
              recording_.operators.size(), name);
    recording_.operators.push_back(op);
  }

  void add_inputs(const Node& node, dataflow::Operator& op) {
    op.sequence_number = node.sequence;
    op.forward_thread = node.forward_thread;
    op.scope = scope_of(node.scope);
    for (std::uint32_t a = 0; a < node.input_count; ++a)
      add_input(nodes_.arguments[node.first_input + a]);
  }

  void add_input(const Argument& argument) {
    dataflow::Value value{.kind = kind_of(argument.kind),
                          .first = static_cast<std::uint32_t>(recording_.tensors.size())};
    for (std::uint32_t u = 0; u < argument.count; ++u) add_tensor(argument.first + u);
    value.count = static_cast<std::uint32_t>(recording_.tensors.size()) - value.first;
    recording_.inputs.push_back(value);
  }

  void add_tensor(std::uint32_t row) {
    const chakra::TensorUse& use = nodes_.uses[row];
    dataflow::TensorFacts tensor{.item_bytes = use.item_bytes};
    tensor.device = recording_.device(nodes_.devices[use.device.value]);
    tensor.first_size = static_cast<std::uint32_t>(recording_.sizes.size());
    tensor.dimensions = use.dimensions;
    for (std::uint32_t d = use.first_size; d < use.first_size + use.dimensions; ++d) {
      recording_.sizes.push_back(nodes_.sizes[d]);
      recording_.strides.push_back(nodes_.strides[d]);
    }
    if (const std::uint32_t life = bound_.of_uses[row]; life != kNone)
      tensor.tensor = tensor.storage = pointer_of_life(life);
    recording_.tensors.push_back(tensor);
  }

  void add_allocation(const MemoryRow& row, std::uint32_t number) {
    const std::uint32_t life = bound_.of_memory[number];
    if (life == kNone) return;
    add_event(row.time_ns, row.time_ns, row.thread, EventKind::Allocation,
              recording_.allocations.size());
    recording_.allocations.push_back(
        {.pointer = pointer_of_life(life), .bytes = row.bytes, .device = row.device});
  }

  const TraceContents& trace_;
  const ExecutionNodes& nodes_;
  const BoundStorages& bound_;
  std::vector<std::uint64_t> threads_;  // by the trace's
  Recording recording_;
};

}  // namespace

Recording make_recording(const TraceContents& trace, const ExecutionNodes& nodes,
                         const BoundStorages& bound) {
  return Making(trace, nodes, bound).run();
}

}  // namespace tidemark::join
