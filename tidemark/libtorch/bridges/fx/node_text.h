// What people read about the nodes of an fx graph: names, operators, modules, lines, categories.
#pragma once

#include "tidemark/engine/graph/builder.h"
#include "tidemark/libtorch/bridges/fx/fx_graph.h"

namespace tidemark::fx {

class NodeTexts {
 public:
  NodeTexts(const ReadOptions& options, GraphBuilder& builder);

  void add(PyObject* node, NodeId id, NodeKind kind);
  // Categories and phases need the whole graph: who is behind a tangent, what is returned.
  void finish();

 private:
  Category input_category(py::handle node, const std::string& name) const;
  void label_outputs(NodeId node);
  void label_computed(NodeId node);

  const ReadOptions& options_;
  GraphBuilder& builder_;
  std::string torch_folder_;
  std::vector<NodeText> texts_;
  std::vector<std::uint8_t> is_backward_;  // by node: depends on a tangent
  std::vector<Category> categories_;       // by node: of inputs and constants
  bool has_tangents_ = false;
};

}  // namespace tidemark::fx
