// Rows of distinct inputs, outputs and uses, each in time proportional to its length.
#include "tidemark/engine/graph/builder.h"

#include <algorithm>

#include "tidemark/engine/base/error.h"

namespace tidemark {

void GraphBuilder::reserve(std::size_t nodes) {
  graph_.kinds_.reserve(nodes);
  graph_.traits_.reserve(nodes);
  graph_.storages_.reserve(nodes);
  graph_.allocators_.reserve(nodes);
  for (auto* begins : {&graph_.inputs_.begins, &graph_.outputs_.begins, &graph_.uses_.begins})
    begins->reserve(nodes + 1);
  graph_.inputs_.values.reserve(2 * nodes);
  graph_.outputs_.values.reserve(nodes);
  graph_.uses_.values.reserve(2 * nodes);
  for (auto* owners : {&input_of_, &output_of_, &used_by_}) owners->reserve(nodes);
}

DeviceId GraphBuilder::device(std::string_view name) {
  auto& devices = graph_.devices_;
  auto found = std::find(devices.begin(), devices.end(), name);
  if (found == devices.end()) {
    if (devices.size() == DeviceId::kNone)
      throw Error(ErrorCode::BadArgument, "the graph has too many devices");
    found = devices.emplace(devices.end(), name);
  }
  return device_numbered(static_cast<std::size_t>(found - devices.begin()));
}

StorageId GraphBuilder::add_storage(DeviceId device, std::int64_t bytes) {
  const StorageId id(static_cast<std::uint32_t>(graph_.storages_.size()));
  graph_.storages_.push_back({.bytes = bytes, .device = device});
  graph_.allocators_.emplace_back();
  output_of_.emplace_back();
  used_by_.emplace_back();
  return id;
}

StorageId GraphBuilder::add_storage(DeviceId device, SizeExpression size) {
  const StorageId id = add_storage(device, evaluate_at_hints(size, graph_.dimensions_).value_or(0));
  graph_.storages_.back().size = static_cast<std::uint32_t>(graph_.sizes_.size());
  graph_.sizes_.push_back(std::move(size));
  return id;
}

void GraphBuilder::set_category(StorageId storage, Category category) {
  graph_.storages_[storage.value].category = category;
}

NodeId GraphBuilder::add_node(NodeKind kind, std::span<const NodeId> inputs,
                              std::span<const StorageId> outputs) {
  const NodeId node(static_cast<std::uint32_t>(graph_.node_count()));
  for (NodeId input : inputs)
    if (input.value >= node.value)
      throw Error(ErrorCode::BadArgument, "a node's input comes after it", graph_.name(node));
  for (StorageId storage : outputs)
    if (storage.value >= graph_.storage_count())
      throw Error(ErrorCode::BadArgument, "a node returns no storage of this graph",
                  graph_.name(node));
  graph_.kinds_.push_back(kind);
  graph_.traits_.push_back(0);
  input_of_.emplace_back();
  add_outputs(node, outputs);
  add_inputs(inputs);
  return node;
}

void GraphBuilder::add_outputs(NodeId node, std::span<const StorageId> outputs) {
  for (StorageId storage : outputs) {
    if (output_of_[storage.value] == node) continue;
    output_of_[storage.value] = node;
    graph_.outputs_.values.push_back(storage);
    if (!graph_.allocators_[storage.value]) graph_.allocators_[storage.value] = node;
  }
  graph_.outputs_.end_row();
}

void GraphBuilder::add_inputs(std::span<const NodeId> inputs) {
  const NodeId node(static_cast<std::uint32_t>(graph_.node_count() - 1));
  for (NodeId input : inputs) {
    if (input_of_[input.value] == node) continue;
    input_of_[input.value] = node;
    graph_.inputs_.values.push_back(input);
    for (StorageId storage : graph_.outputs(input)) {
      if (used_by_[storage.value] == node) continue;
      used_by_[storage.value] = node;
      graph_.uses_.values.push_back(storage);
    }
  }
  graph_.inputs_.end_row();
  graph_.uses_.end_row();
}

void GraphBuilder::set_trait(NodeId node, NodeTrait trait) {
  graph_.traits_[node.value] = static_cast<std::uint8_t>(graph_.traits_[node.value] | trait);
}

void GraphBuilder::set_wait(NodeId node, NodeId collective) {
  graph_.waits_for_.resize(graph_.node_count());
  graph_.waits_for_[node.value] = collective;
}

void GraphBuilder::set_text(NodeId node, NodeText text) {
  graph_.texts_.resize(graph_.node_count());
  graph_.texts_[node.value] = std::move(text);
}

Graph GraphBuilder::finish() {
  Graph done = std::move(graph_);
  *this = GraphBuilder();
  return done;
}

}  // namespace tidemark
