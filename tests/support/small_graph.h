// Small graphs written by name: graph.compute("relu", {"x"}, {{"r", 1024}}).
#pragma once

#include <initializer_list>
#include <map>
#include <string>

#include "tidemark/engine/graph/builder.h"

namespace tidemark::test {

// A storage by name; its bytes are given where the name is first used.
struct Result {
  std::string storage;
  std::int64_t bytes = 0;
  std::string device = "cuda:0";
};

class SmallGraph {
 public:
  using Names = std::initializer_list<std::string>;
  using Results = std::initializer_list<Result>;

  NodeId input(const std::string& name, Results results) {
    return add(NodeKind::Input, name, {}, results);
  }
  NodeId constant(const std::string& name, Results results) {
    return add(NodeKind::Constant, name, {}, results);
  }
  NodeId compute(const std::string& name, Names inputs, Results results) {
    return add(NodeKind::Compute, name, inputs, results);
  }
  NodeId output(Names inputs) { return add(NodeKind::Output, "output", inputs, {}); }

  NodeId operator[](const std::string& name) const { return nodes_.at(name); }
  StorageId storage(const std::string& name) const { return storages_.at(name); }
  GraphBuilder& builder() { return builder_; }
  Graph finish() { return builder_.finish(); }

 private:
  NodeId add(NodeKind kind, const std::string& name, Names inputs, Results results) {
    std::vector<NodeId> from;
    for (const std::string& input : inputs) from.push_back(nodes_.at(input));
    std::vector<StorageId> to;
    for (const Result& result : results) {
      if (!storages_.count(result.storage))
        storages_[result.storage] =
            builder_.add_storage(builder_.device(result.device), result.bytes);
      to.push_back(storages_[result.storage]);
    }
    const NodeId node = builder_.add_node(kind, from, to);
    builder_.set_text(node, {.name = name, .op = name});
    return nodes_[name] = node;
  }

  GraphBuilder builder_;
  std::map<std::string, NodeId> nodes_;
  std::map<std::string, StorageId> storages_;
};

}  // namespace tidemark::test
