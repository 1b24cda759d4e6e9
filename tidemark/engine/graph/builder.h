// Builds a graph node by node, in the recorded order: what every source of graphs uses.
#pragma once

#include "tidemark/engine/graph/graph.h"

namespace tidemark {

class GraphBuilder {
 public:
  void reserve(std::size_t nodes);

  DeviceId device(std::string_view name);
  StorageId add_storage(DeviceId device, std::int64_t bytes);
  // The bytes follow from the dimensions' hints, where all are known, and are 0 otherwise.
  StorageId add_storage(DeviceId device, SizeExpression size);
  void set_category(StorageId storage, Category category);

  // Inputs and outputs may repeat themselves. Throws Error(BadArgument) for an input that is not
  // an earlier node, or a storage that does not exist.
  NodeId add_node(NodeKind kind, std::span<const NodeId> inputs,
                  std::span<const StorageId> outputs);
  void set_trait(NodeId node, NodeTrait trait);
  void set_wait(NodeId node, NodeId collective);
  void set_text(NodeId node, NodeText text);

  std::size_t node_count() const { return graph_.node_count(); }
  const Graph& so_far() const { return graph_; }
  Dimensions& dimensions() { return graph_.dimensions_; }
  // The builder is empty afterwards.
  Graph finish();

 private:
  void add_inputs(std::span<const NodeId> inputs);
  void add_outputs(NodeId node, std::span<const StorageId> outputs);

  Graph graph_;
  // The last node that noted a node or storage as its own: makes rows distinct without a search.
  std::vector<NodeId> input_of_, output_of_, used_by_;
};

}  // namespace tidemark
