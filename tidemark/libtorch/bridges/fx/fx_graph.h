// torch.fx nodes as an engine graph, in one pass, and the way back from ids to Python's objects.
#pragma once

#include <pybind11/pybind11.h>

#include <memory>

#include "tidemark/engine/graph/graph.h"
#include "tidemark/libtorch/bridges/fx/pointer_map.h"

namespace tidemark::fx {

namespace py = pybind11;

// How the nodes are read. The defaults are what PyTorch's estimator sees; `mended` is what is so.
struct ReadOptions {
  // A constant is one storage however often it is read; a view operator's result is its input's
  // storage; sparse values have the storages of their parts; symbolic sizes stay symbolic.
  bool mended = false;
  bool text = false;                // names, operators, modules, source lines, categories
  bool sizes = true;                // else every storage has 0 bytes
  py::object counts = py::none();   // device -> bool; None: all. Others have 0 bytes
  py::set trained;                  // descriptions of inputs that gradients are made for
  py::object size_of = py::none();  // nbytes -> int; None: numbers as they are, hints for symbols
};

struct FxGraph {
  std::shared_ptr<Graph> graph;
  PointerMap index;                   // of the nodes
  std::vector<py::object> nodes;      // by NodeId
  std::vector<py::object> tensors;    // by StorageId: a tensor on it
  std::vector<const void*> storages;  // by StorageId: its address
  std::vector<std::uint8_t> counts;   // by StorageId: its device counts

  // Throws KeyError, as a dict of nodes would.
  NodeId at(py::handle node) const;
};

// `nodes` must come after their inputs: KeyError with the input otherwise, as in PyTorch.
FxGraph read_nodes(const py::list& nodes, const ReadOptions& options);

}  // namespace tidemark::fx
