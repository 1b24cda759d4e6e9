// Facts of operators come from the engine's table and from their tags, asked once per operator.
#include "tidemark/libtorch/bridges/fx/mending.h"

#include "tidemark/engine/operators/aliases.h"
#include "tidemark/libtorch/bridges/fx/node_fields.h"

namespace tidemark::fx {
namespace {

bool has_tag(py::handle target, const char* tag) {
  const py::object tags = py::getattr(target, "tags", py::tuple());
  const py::object wanted = py::getattr(py::module_::import("torch").attr("Tag"), tag, py::none());
  for (py::handle one : tags)
    if (one.equal(wanted)) return true;
  return false;
}

}  // namespace

Mending::Operator Mending::ask(py::handle target) {
  Operator facts;
  if (!py::hasattr(target, "_schema")) return facts;
  const auto name = target.attr("_schema").attr("name").cast<std::string>();
  facts.waits = name == "_c10d_functional::wait_tensor";
  const bool is_collective = name.starts_with("_c10d_functional::");
  // Where an operator may copy, the trace knows better than we do. A wait returns what it waits
  // for.
  facts.is_alias =
      facts.waits || operators::alias_of_first_argument(name) == operators::Alias::Always;
  facts.is_dropout = operators::is_dropout(name);
  facts.is_elementwise = has_tag(target, "pointwise");
  facts.starts_collective = is_collective && !facts.waits;
  return facts;
}

const Mending::Operator& Mending::operator_of(PyObject* target) {
  const auto found = operators_.find(target);
  return found != operators_.end() ? found->second
                                   : operators_.emplace(target, ask(target)).first->second;
}

// A chain of views of a constant: each was replaced by what the one before it was replaced by.
StorageId Mending::real(StorageId storage) const {
  const auto found = replaced_.find(storage.value);
  return found == replaced_.end() ? storage : found->second;
}

// A storage that an earlier node has returned is what it is.
void Mending::replace(StorageId& output, StorageId real_one) {
  if (output == real_one || builder_.so_far().allocator(output)) return;
  replaced_[output.value] = real_one;
  output = real_one;
}

// The aliased tensor is the first argument, and so the first input.
bool Mending::is_alias(PyObject* target, PyObject* arguments) {
  const Operator& facts = operator_of(target);
  if (!PyTuple_Check(arguments) || PyTuple_GET_SIZE(arguments) == 0) return false;
  if (!NodeFields::is_node(PyTuple_GET_ITEM(arguments, 0))) return false;
  const bool is_idle = facts.is_dropout && PyTuple_GET_SIZE(arguments) == 3 &&
                       PyTuple_GET_ITEM(arguments, 2) == Py_False;
  return facts.is_alias || is_idle;
}

void Mending::mend(PyObject* node, NodeKind kind, const std::vector<NodeId>& inputs,
                   std::vector<StorageId>& outputs) {
  for (StorageId& storage : outputs) storage = real(storage);
  const NodeFields& fields = NodeFields::get();
  PyObject* target = fields.target.of(node);
  if (kind == NodeKind::Constant && PyUnicode_Check(target)) {
    auto& first = constants_[py::cast<std::string>(py::handle(target))];
    if (first.empty()) first = outputs;
    else if (first.size() == outputs.size())
      for (std::size_t i = 0; i < outputs.size(); ++i) replace(outputs[i], first[i]);
    return;
  }
  if (kind != NodeKind::Compute || inputs.empty()) return;
  if (!is_alias(target, fields.args.of(node))) return;
  const auto aliased = builder_.so_far().outputs(inputs[0]);
  if (aliased.size() == 1)
    for (StorageId& output : outputs) replace(output, aliased[0]);
}

NodeId Mending::collective_behind(NodeId node) const {
  const Graph& graph = builder_.so_far();
  for (int steps = 0; steps < 2; ++steps) {  // a collective of many has a getitem between
    if (graph.inputs(node).empty()) return NodeId();
    node = graph.inputs(node)[0];
    if (graph.has(node, kStartsCollective)) return node;
  }
  return NodeId();
}

void Mending::note_traits(PyObject* node, NodeId id) {
  if (builder_.so_far().kind(id) != NodeKind::Compute) return;
  const Operator& facts = operator_of(NodeFields::get().target.of(node));
  if (facts.is_elementwise) builder_.set_trait(id, kMayReuseInput);
  if (facts.starts_collective) builder_.set_trait(id, kStartsCollective);
  if (!facts.waits) return;
  if (const NodeId start = collective_behind(id)) builder_.set_wait(id, start);
}

}  // namespace tidemark::fx
