// What a graph answers about its nodes in words.
#include "tidemark/engine/graph/graph.h"

namespace tidemark {

const NodeText& Graph::text(NodeId node) const {
  static const NodeText kNothing;
  return node.value < texts_.size() ? texts_[node.value] : kNothing;
}

std::string Graph::name(NodeId node) const {
  const std::string& name = text(node).name;
  return name.empty() ? "node " + std::to_string(node.value) : name;
}

NodeId Graph::find(std::string_view name) const {
  for (std::uint32_t i = 0; i < texts_.size(); ++i)
    if (texts_[i].name == name) return NodeId(i);
  return NodeId();
}

}  // namespace tidemark
