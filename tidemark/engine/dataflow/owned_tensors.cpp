// Knows autograd's accumulator by its name, and what it does with a gradient by its first operator.
#include "tidemark/engine/dataflow/owned_tensors.h"

namespace tidemark::dataflow {

TensorRow accumulated_gradient(const Recording& recording, const Tree& tree, Position at) {
  const Event& event = recording.events[tree.events[at].value];
  if (recording.operators[event.detail].scope != RecordScope::BackwardFunction) return {};
  const Position child = tree.first_child(at);
  if (child == kNoPosition || recording.names[event.name] != "torch::autograd::AccumulateGrad")
    return {};
  const Event& first = recording.events[tree.events[child].value];
  if (first.kind != EventKind::Operator) return {};
  const std::string_view name = recording.names[first.name];
  if (name != "aten::detach" && name != "aten::add_") return {};
  const Operator& op = recording.operators[first.detail];
  if (op.input_count == 0) return {};
  const Value& value = recording.inputs[op.first_input];
  return value.kind == ValueKind::Tensor ? TensorRow(value.first) : TensorRow();
}

}  // namespace tidemark::dataflow
