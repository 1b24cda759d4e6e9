// Reads what tracing left in the nodes, and finds categories from the graph's structure.
//
//   primals ----> forward nodes ----+----> outputs            a node behind a tangent is backward;
//                      | saved      |                         what crosses from forward to
//   tangents ---> backward nodes ---+----> gradients          backward was saved for it
#include "tidemark/libtorch/bridges/fx/node_text.h"

#include "tidemark/engine/graph/source_line.h"
#include "tidemark/libtorch/bridges/fx/node_fields.h"

namespace tidemark::fx {
namespace {

std::string text_of(py::handle object) { return py::str(object).cast<std::string>(); }

// "aten::relu" for an operator of torch, the function's name for others, the target as it is else.
std::string op_name(py::handle target) {
  if (py::hasattr(target, "_schema")) return text_of(target.attr("_schema").attr("name"));
  if (PyUnicode_Check(target.ptr())) return text_of(target);
  return text_of(py::getattr(target, "__name__", target));
}

// "L['self'].layers.0" is the module layers.0.
std::string module_path(std::string path) {
  if (path.starts_with("L['"))
    if (const auto end = path.find("']"); end != std::string::npos) path.erase(0, end + 2);
  if (path.starts_with(".")) path.erase(0, 1);
  return path;
}

std::string scope_of(const py::dict& meta) {
  for (const char* key : {"nn_module_stack", "fwd_nn_module_stack"}) {
    if (!meta.contains(key) || !py::isinstance<py::dict>(meta[key])) continue;
    std::string innermost;
    for (const auto& [name, value] : py::reinterpret_borrow<py::dict>(meta[key]))
      if (py::isinstance<py::tuple>(value))
        innermost = text_of(py::reinterpret_borrow<py::tuple>(value)[0]);
    if (!innermost.empty()) return module_path(innermost);
  }
  return {};
}

std::string find_torch_folder() {
  const py::list folders(py::module_::import("torch").attr("__path__"));
  return folders.empty() ? std::string() : text_of(folders[0]);
}

void add_source(const py::dict& meta, std::string_view torch_folder, NodeText& text) {
  if (!meta.contains("stack_trace") || !PyUnicode_Check(meta["stack_trace"].ptr())) return;
  SourceLine found = find_source_line(text_of(meta["stack_trace"]), torch_folder);
  text.file = std::move(found.file);
  text.line = found.line;
}

std::string described_as(py::handle node) {
  const py::object meta = node.attr("meta");
  const py::object description = meta.attr("get")("desc");
  if (description.is_none()) return {};
  return text_of(py::type::of(description).attr("__name__"));
}

bool is_parameter(py::handle node) {
  const py::object value = node.attr("meta").attr("get")("val");
  return py::hasattr(value, "requires_grad") && value.attr("requires_grad").cast<bool>();
}

bool is_tangent(py::handle node, const std::string& name) {
  return described_as(node).starts_with("Tangent") || name.starts_with("tangents");
}

bool is_trained(py::handle node, const py::set& trained) {
  const py::object description = node.attr("meta").attr("get")("desc");
  return !description.is_none() && trained.contains(py::str(description));
}

}  // namespace

NodeTexts::NodeTexts(const ReadOptions& options, GraphBuilder& builder)
    : options_(options), builder_(builder), torch_folder_(find_torch_folder()) {}

// Unknown where only the whole graph can tell.
Category NodeTexts::input_category(py::handle node, const std::string& name) const {
  const std::string description = described_as(node);
  if (is_tangent(node, name)) return Category::Gradient;
  if (description.starts_with("Param") || name.starts_with("p_")) return Category::Parameter;
  if (description.starts_with("Buffer") || name.starts_with("b_")) return Category::Buffer;
  if (is_parameter(node) || is_trained(node, options_.trained)) return Category::Parameter;
  return name.starts_with("primals") ? Category::Input : Category::Unknown;
}

void NodeTexts::add(PyObject* node, NodeId id, NodeKind kind) {
  const NodeFields& fields = NodeFields::get();
  const auto meta = py::reinterpret_borrow<py::dict>(fields.meta.of(node));
  NodeText text;
  text.name = text_of(fields.name.of(node));
  text.op = kind == NodeKind::Compute ? op_name(fields.target.of(node)) : "";
  text.scope = scope_of(meta);
  add_source(meta, torch_folder_, text);
  bool is_backward = false;
  Category category = Category::Unknown;
  if (kind == NodeKind::Input) {
    category = input_category(node, text.name);
    is_backward = is_tangent(node, text.name);
    has_tangents_ = has_tangents_ || is_backward;
  }
  if (kind == NodeKind::Constant)
    category = is_parameter(node) ? Category::Parameter : Category::Buffer;
  for (NodeId input : builder_.so_far().inputs(id))
    is_backward = is_backward || is_backward_[input.value];
  text.phase = is_backward ? Phase::Backward : Phase::Forward;
  is_backward_.push_back(is_backward);
  categories_.push_back(category);
  texts_.push_back(std::move(text));
}

// Used by a backward node, but not made by one: saved for it.
void NodeTexts::label_computed(NodeId node) {
  const Graph& graph = builder_.so_far();
  for (StorageId s : graph.outputs(node))
    if (graph.allocator(s) == node) builder_.set_category(s, Category::Temporary);
  if (!is_backward_[node.value]) return;
  for (StorageId s : graph.uses(node)) {
    const NodeId maker = graph.allocator(s);
    if (graph.kind(maker) == NodeKind::Compute && !is_backward_[maker.value])
      builder_.set_category(s, Category::Activation);
  }
}

void NodeTexts::label_outputs(NodeId node) {
  const Graph& graph = builder_.so_far();
  for (StorageId s : graph.uses(node)) {
    const NodeId maker = graph.allocator(s);
    if (graph.kind(maker) != NodeKind::Compute) continue;
    builder_.set_category(s, is_backward_[maker.value] ? Category::Gradient : Category::Activation);
  }
}

void NodeTexts::finish() {
  const Graph& graph = builder_.so_far();
  // A backward graph takes what the forward saved for it beside primals and tangents.
  for (Category& category : categories_)
    if (category == Category::Unknown)
      category = has_tangents_ ? Category::Activation : Category::Input;
  for (std::uint32_t n = 0; n < graph.node_count(); ++n) {
    const NodeId id(n);
    builder_.set_text(id, std::move(texts_[n]));
    if (graph.kind(id) == NodeKind::Compute) label_computed(id);
    else if (graph.kind(id) == NodeKind::Output) label_outputs(id);
    else
      for (StorageId s : graph.outputs(id))
        if (graph.allocator(s) == id) builder_.set_category(s, categories_[n]);
  }
}

}  // namespace tidemark::fx
