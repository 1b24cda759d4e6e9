// A static graph: nodes in a recorded order, the storages they return, and who uses which.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tidemark/engine/base/category.h"
#include "tidemark/engine/base/diagnostics.h"
#include "tidemark/engine/base/ids.h"
#include "tidemark/engine/graph/size_expression.h"

namespace tidemark {

using NodeId = Id<struct NodeTag>;

enum class NodeKind : std::uint8_t {
  Input,     // a placeholder: there before the graph runs
  Constant,  // a get_attr: likewise
  Compute,
  Output,  // the one that returns; what it uses outlives the graph
};

// What a compute node is besides; a set of bits.
enum NodeTrait : std::uint8_t {
  kMayReuseInput = 1,  // elementwise: may write its result over an input that dies here
  kStartsCollective = 2,
};

// Values in rows of different lengths, one after the other.
template <class T>
struct Rows {
  std::vector<std::uint32_t> begins = {0};
  std::vector<T> values;

  std::size_t size() const { return begins.size() - 1; }
  std::span<const T> operator[](std::size_t row) const {
    return {values.data() + begins[row], values.data() + begins[row + 1]};
  }
  void end_row() { begins.push_back(static_cast<std::uint32_t>(values.size())); }
};

struct GraphStorage {
  std::int64_t bytes = 0;  // for a symbolic size: with the dimensions' hints
  DeviceId device;
  std::uint32_t size = UINT32_MAX;  // row of Graph::sizes(); the highest number: not symbolic
  Category category = Category::Unknown;
};

// What people want to read about a node. Sources that are only asked for numbers leave it out.
struct NodeText {
  std::string name, op, scope, file;
  std::uint32_t line = 0;
  Phase phase = Phase::Other;
};

// Immutable once built; see GraphBuilder.
class Graph {
 public:
  std::size_t node_count() const { return kinds_.size(); }
  std::size_t storage_count() const { return storages_.size(); }

  NodeKind kind(NodeId node) const { return kinds_[node.value]; }
  bool has(NodeId node, NodeTrait trait) const { return (traits_[node.value] & trait) != 0; }
  // The collective that this node waits for; none for most.
  NodeId waits_for(NodeId node) const {
    return node.value < waits_for_.size() ? waits_for_[node.value] : NodeId();
  }
  // Distinct, in the order they were first seen.
  std::span<const NodeId> inputs(NodeId node) const { return inputs_[node.value]; }
  std::span<const StorageId> outputs(NodeId node) const { return outputs_[node.value]; }
  std::span<const StorageId> uses(NodeId node) const { return uses_[node.value]; }

  const GraphStorage& storage(StorageId storage) const { return storages_[storage.value]; }
  // The first node of the recorded order that returns the storage.
  NodeId allocator(StorageId storage) const { return allocators_[storage.value]; }
  const std::vector<std::string>& devices() const { return devices_; }
  const Dimensions& dimensions() const { return dimensions_; }
  const std::vector<SizeExpression>& sizes() const { return sizes_; }
  // What the source of this graph left out or did not understand.
  const Diagnostics& diagnostics() const { return diagnostics_; }
  const NodeText& text(NodeId node) const;  // empty where the source gave none
  std::string name(NodeId node) const;      // "relu", or "node 7"
  NodeId find(std::string_view name) const;

 private:
  friend class GraphBuilder;
  std::vector<NodeKind> kinds_;
  std::vector<std::uint8_t> traits_;
  std::vector<NodeId> waits_for_;
  Rows<NodeId> inputs_;
  Rows<StorageId> outputs_, uses_;
  std::vector<GraphStorage> storages_;
  std::vector<NodeId> allocators_;
  std::vector<std::string> devices_;
  Dimensions dimensions_;
  std::vector<SizeExpression> sizes_;
  std::vector<NodeText> texts_;
  Diagnostics diagnostics_;
};

}  // namespace tidemark
