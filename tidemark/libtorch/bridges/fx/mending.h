// Storages as they are where a captured graph shows them otherwise, and what operators do.
#pragma once

#include <string>
#include <unordered_map>

#include "tidemark/engine/graph/builder.h"
#include "tidemark/libtorch/bridges/fx/fx_graph.h"

namespace tidemark::fx {

// Two things that captured graphs get wrong: each read of a constant has a fake tensor of its own,
// and so has its first view; a graph traced in real mode gives a fresh storage to every view.
class Mending {
 public:
  explicit Mending(GraphBuilder& builder) : builder_(builder) {}

  void mend(PyObject* node, NodeKind kind, const std::vector<NodeId>& inputs,
            std::vector<StorageId>& outputs);
  void note_traits(PyObject* node, NodeId id);

 private:
  struct Operator {
    bool is_alias = false;  // its results are on the storage of the first argument
    bool is_dropout = false;
    bool is_elementwise = false, starts_collective = false, waits = false;
  };
  const Operator& operator_of(PyObject* target);
  static Operator ask(py::handle target);
  bool is_alias(PyObject* target, PyObject* arguments);
  void replace(StorageId& output, StorageId real);
  StorageId real(StorageId storage) const;
  NodeId collective_behind(NodeId node) const;

  GraphBuilder& builder_;
  std::unordered_map<PyObject*, Operator> operators_;
  std::unordered_map<std::string, std::vector<StorageId>> constants_;  // by the attribute's name
  std::unordered_map<std::uint32_t, StorageId> replaced_;
};

}  // namespace tidemark::fx
