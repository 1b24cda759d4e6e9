// The Python module tidemark._graph: FX graphs as engine graphs, and PyTorch's estimator on them.
//
// Import tidemark._engine and torch first: the types of the one and the libraries of the other are
// used here.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "tidemark/engine/graph/facts.h"
#include "tidemark/engine/graph/interaction.h"
#include "tidemark/libtorch/bridges/fx/estimator.h"

namespace py = pybind11;

namespace tidemark::fx {
namespace {

template <class Ids>
py::list numbers(const Ids& ids) {
  py::list list(ids.size());
  for (std::size_t i = 0; i < ids.size(); ++i) list[i] = py::int_(ids[i].value);
  return list;
}

// A graph as Python holds it: with the facts that its questions need, found on the first of them.
struct ReadGraph : FxGraph {
  explicit ReadGraph(FxGraph read) : FxGraph(std::move(read)) {}
  const AliasFacts& facts() const {
    if (!facts_) facts_ = find_alias_facts(*graph);
    return *facts_;
  }
  StorageId checked(std::uint32_t storage) const {
    if (storage >= graph->storage_count()) throw py::index_error("no such storage");
    return StorageId(storage);
  }

 private:
  mutable std::optional<AliasFacts> facts_;
};

std::shared_ptr<ReadGraph> read_graph(const py::list& nodes, bool mended, bool text, bool sizes,
                                      py::object counts, py::object size_of, py::set trained) {
  const ReadOptions options{.mended = mended,
                            .text = text,
                            .sizes = sizes,
                            .counts = std::move(counts),
                            .trained = std::move(trained),
                            .size_of = std::move(size_of)};
  return std::make_shared<ReadGraph>(read_nodes(nodes, options));
}

py::list build_memory_profile(const py::list& nodes, py::object releasable, py::object counts,
                              py::object size_of) {
  const ReadOptions options{.counts = std::move(counts), .size_of = std::move(size_of)};
  const auto levels =
      profile_as_torch(read_nodes(nodes, options), Releasable(std::move(releasable)));
  py::list list(levels.size());
  for (std::size_t i = 0; i < levels.size(); ++i)
    PyList_SET_ITEM(list.ptr(), static_cast<Py_ssize_t>(i), PyLong_FromLongLong(levels[i]));
  return list;
}

// Which storage of the forward each storage of the backward is: the same address and device.
std::vector<StorageId> same_storages(const FxGraph& forward, const FxGraph& backward) {
  const auto device_of = [](const FxGraph& fx, std::uint32_t s) {
    return fx.graph->devices()[fx.graph->storage(StorageId(s)).device.value];
  };
  std::unordered_multimap<const void*, std::uint32_t> known;
  for (std::uint32_t s = 0; s < forward.storages.size(); ++s) known.emplace(forward.storages[s], s);
  std::vector<StorageId> same(backward.storages.size());
  for (std::uint32_t s = 0; s < same.size(); ++s) {
    const auto [begin, end] = known.equal_range(backward.storages[s]);
    for (auto one = begin; one != end; ++one)
      if (device_of(forward, one->second) == device_of(backward, s))
        same[s] = StorageId(one->second);
  }
  return same;
}

JointGraphs joint(const ReadGraph& forward, const ReadGraph& backward) {
  JointGraphs graphs{
      forward.graph.get(), backward.graph.get(), same_storages(forward, backward), {}};
  const Releasable releasable{py::none()};
  for (std::uint32_t n = 0; n < forward.graph->node_count(); ++n)
    if (forward.graph->kind(NodeId(n)) == NodeKind::Input && !releasable(forward, NodeId(n)))
      graphs.primals.emplace_back(n);
  return graphs;
}

py::tuple interaction(const ReadGraph& forward, const ReadGraph& backward) {
  const Interaction found = find_interaction(joint(forward, backward));
  return py::make_tuple(found.baseline_bytes, numbers(found.not_releasable));
}

void bind_graph(py::module_& m) {
  py::class_<ReadGraph, std::shared_ptr<ReadGraph>>(m, "ReadGraph")
      .def_property_readonly("graph", [](const ReadGraph& g) { return g.graph; })
      .def("node", [](const ReadGraph& g, std::size_t i) { return g.nodes.at(i); })
      .def("tensor", [](const ReadGraph& g, std::size_t i) { return g.tensors.at(i); })
      .def("storage_count", [](const ReadGraph& g) { return g.graph->storage_count(); })
      .def("outputs",
           [](const ReadGraph& g, py::handle n) { return numbers(g.graph->outputs(g.at(n))); })
      .def("uses", [](const ReadGraph& g, py::handle n) { return numbers(g.graph->uses(g.at(n))); })
      .def("fresh", [](const ReadGraph& g,
                       py::handle n) { return numbers(fresh_allocations(*g.graph, g.at(n))); })
      .def("last_uses",
           [](const ReadGraph& g, py::handle n) {
             return numbers(last_uses(*g.graph, g.facts(), g.at(n)));
           })
      .def("allocator", [](const ReadGraph& g, std::uint32_t s) {
        return g.nodes[g.graph->allocator(g.checked(s)).value];
      });
}

// pybind11's own calls cost more than scheduling a node does, so this one method is made by hand.
PyObject* schedule_node(PyObject* self, PyObject* node) {
  try {
    py::cast<TrackerAsTorch&>(py::handle(self)).schedule(node);
    Py_RETURN_NONE;
  } catch (py::error_already_set& error) {
    error.restore();
  } catch (const std::exception& error) {
    PyErr_SetString(PyExc_RuntimeError, error.what());
  }
  return nullptr;
}

void add_schedule_node(py::handle type) {
  static PyMethodDef method{"schedule_node", &schedule_node, METH_O,
                            "Schedules a node; raises AssertionError for one that may not be."};
  const auto descriptor = py::reinterpret_steal<py::object>(
      PyDescr_NewMethod(reinterpret_cast<PyTypeObject*>(type.ptr()), &method));
  if (!descriptor) throw py::error_already_set();
  type.attr("schedule_node") = descriptor;
}

}  // namespace
}  // namespace tidemark::fx

PYBIND11_MODULE(_graph, m) {
  using namespace tidemark;
  using namespace tidemark::fx;
  m.doc() = "FX graphs as engine graphs, and PyTorch's memory estimator on them";
  bind_graph(m);
  m.def("read", &read_graph, py::arg("nodes"), py::kw_only(), py::arg("mended") = false,
        py::arg("text") = false, py::arg("sizes") = true, py::arg("counts") = py::none(),
        py::arg("size_of") = py::none(), py::arg("trained") = py::set());
  m.def("build_memory_profile", &build_memory_profile);
  m.def("interaction", &interaction);
  py::class_<TrackerAsTorch> tracker(m, "Tracker");
  add_schedule_node(tracker);
  tracker
      .def(py::init([](std::shared_ptr<ReadGraph> graph, py::object releasable) {
        return TrackerAsTorch(std::move(graph), Releasable(std::move(releasable)));
      }))
      .def("get_current_memory_bytes", &TrackerAsTorch::current_bytes)
      .def_property_readonly("current_memory_bytes", &TrackerAsTorch::current_bytes)
      .def_property_readonly("peak_memory", &TrackerAsTorch::peak_bytes)
      .def("_order", [](const TrackerAsTorch& t) { return numbers(t.order()); })
      .def("_alive", [](const TrackerAsTorch& t) { return numbers(t.alive()); });
}
