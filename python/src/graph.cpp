// Graph and GraphAccounts: static graphs, their profiles, peaks and tapes; nodes by number.
#include "tidemark/engine/graph/graph.h"

#include <pybind11/stl/filesystem.h>

#include "python/src/graph_parts.h"
#include "tidemark/engine/base/error.h"
#include "tidemark/engine/base/units.h"
#include "tidemark/engine/graph/graph_tape.h"
#include "tidemark/engine/graph/profile.h"
#ifdef TIDEMARK_HAS_PT2
#include "tidemark/readers/pt2/pt2_reader.h"
#endif
#include "python/src/values.h"
#include "tidemark/readers/naming.h"

namespace tidemark::python {
namespace {

// The vector becomes the array's memory.
py::array_t<std::int64_t> array_of(std::vector<std::int64_t> values) {
  auto* held = new std::vector<std::int64_t>(std::move(values));
  const py::capsule owner(held, [](void* p) { delete static_cast<std::vector<std::int64_t>*>(p); });
  return py::array_t<std::int64_t>(static_cast<py::ssize_t>(held->size()), held->data(), owner);
}

AccountsPointer accounts_of(GraphPointer graph, std::int64_t granularity, bool free_unused,
                            bool hold_collective_inputs, bool reuse_inputs,
                            const std::vector<std::uint32_t>& donated,
                            const std::vector<bool>& releasable, std::vector<std::string> devices,
                            const std::map<std::string, std::int64_t>& dimensions) {
  GraphOptions options;
  options.granularity = granularity;
  options.free_unused = free_unused;
  options.hold_collective_inputs = hold_collective_inputs;
  options.reuse_inputs = reuse_inputs;
  for (std::uint32_t node : donated) options.donated.emplace_back(node);
  options.releasable.assign(releasable.begin(), releasable.end());
  options.devices = std::move(devices);
  options.dimensions = {dimensions.begin(), dimensions.end()};
  return std::make_shared<HeldAccounts>(std::move(graph), std::move(options));
}

void bind_graph_peak(py::module_& module) {
  using Alive = AliveStorage;
  py::class_<Alive>(module, "AliveStorage", "A storage that is alive at a graph's peak.")
      .def_property_readonly("storage", [](const Alive& s) { return s.storage.value; })
      .def_readonly("bytes", &Alive::bytes)
      .def_property_readonly("born_at", [](const Alive& s) { return number_or_none(s.born_at); })
      .def_property_readonly("dies_at", [](const Alive& s) { return number_or_none(s.dies_at); });
  py::class_<GraphPeak>(module, "GraphPeak", "The highest moment of an order of a graph.")
      .def_readonly("bytes", &GraphPeak::bytes)
      .def_readonly("position", &GraphPeak::position)
      .def_property_readonly("node", [](const GraphPeak& p) { return number_or_none(p.node); })
      .def_readonly("alive", &GraphPeak::alive)
      .def("__repr__", [](const GraphPeak& p) {
        return "<GraphPeak: " + format_bytes(p.bytes) + " in " + std::to_string(p.alive.size()) +
               " storages>";
      });
}

void bind_accounts(py::module_& module) {
  const py::arg_v order = py::arg("order") = py::none();
  py::class_<HeldAccounts, AccountsPointer>(module, "GraphAccounts",
                                            "A graph under chosen rules of counting.")
      .def(
          "profile",
          [](const HeldAccounts& self, const std::optional<Numbers>& nodes) {
            return array_of(build_profile(self.accounts, nodes_of(nodes)));
          },
          order, "Bytes before the first node, then two levels for each computing node.")
      .def(
          "peak",
          [](const HeldAccounts& self, const std::optional<Numbers>& nodes) {
            return find_graph_peak(self.accounts, nodes_of(nodes));
          },
          order, "The highest moment, and what is alive then.")
      .def(
          "tape",
          [](const HeldAccounts& self, const std::optional<Numbers>& nodes) {
            return std::make_shared<Tape>(tape_of_graph(self.accounts, nodes_of(nodes)));
          },
          order, "What a run in this order would do to memory.")
      .def("schedule", [](AccountsPointer self) { return HeldSchedule(std::move(self)); })
      .def(
          "order",
          [](AccountsPointer self, const std::optional<Numbers>& nodes) {
            return std::make_unique<HeldOrder>(std::move(self), nodes_of(nodes));
          },
          order);
}

GraphPointer read_archive(const std::filesystem::path& path) {
#ifdef TIDEMARK_HAS_PT2
  return naming(path.string(),
                [&] { return std::make_shared<Graph>(read_pt2_file(path.string())); });
#else
  throw Error(ErrorCode::Unsupported, "this build cannot read exported models", path.string(),
              "build it where libzip and simdjson are");
#endif
}

py::dict hints_of(const Graph& graph) {
  py::dict hints;
  for (const Dimension& d : graph.dimensions())
    hints[decoded(d.name)] = d.hint ? py::object(py::int_(*d.hint)) : py::object(py::none());
  return hints;
}

template <class Class>
void bind_nodes(Class& type) {
  const py::arg node("node");
  type.def(
          "inputs",
          [](const Graph& self, std::int64_t n) {
            return numbers_of(self.inputs(node_at(self, n)));
          },
          node)
      .def(
          "outputs",
          [](const Graph& self, std::int64_t n) {
            return numbers_of(self.outputs(node_at(self, n)));
          },
          node)
      .def(
          "name",
          [](const Graph& self, std::int64_t n) { return decoded(self.name(node_at(self, n))); },
          node)
      .def(
          "find",
          [](const Graph& self, const std::string& name) {
            return number_or_none(self.find(name));
          },
          py::arg("name"))
      .def(
          "compute_nodes", [](const Graph& self) { return numbers_of(recorded_order(self)); },
          "The nodes of an order: all but inputs, constants and the output.");
}

}  // namespace

void bind_graph(py::module_& module) {
  module.def("read_pt2", &read_archive, py::arg("path"),
             "An exported model (.pt2) as a graph, without torch.");
  bind_graph_peak(module);
  bind_accounts(module);
  bind_schedule(module);
  bind_order(module);
  py::class_<Graph, GraphPointer> type(module, "Graph",
                                       "A static graph: nodes, storages and uses. Immutable.");
  type.def("accounts", &accounts_of, py::kw_only(), py::arg("granularity") = 1,
           py::arg("free_unused") = false, py::arg("hold_collective_inputs") = false,
           py::arg("reuse_inputs") = false, py::arg("donated") = std::vector<std::uint32_t>(),
           py::arg("releasable") = std::vector<bool>(),
           py::arg("devices") = std::vector<std::string>(),
           py::arg("dimensions") = std::map<std::string, std::int64_t>(),
           "The graph under these rules of counting.")
      .def_property_readonly("node_count", &Graph::node_count)
      .def_property_readonly("storage_count", &Graph::storage_count)
      .def_property_readonly("devices", &Graph::devices)
      .def_property_readonly("dimensions", &hints_of,
                             "What sizes depend on: names, with the values they were captured at.")
      .def_property_readonly("diagnostics", &Graph::diagnostics,
                             "What its source left out or did not understand.")
      .def("__repr__", [](const Graph& self) {
        return "<Graph: " + std::to_string(self.node_count()) + " nodes, " +
               std::to_string(self.storage_count()) + " storages>";
      });
  bind_nodes(type);
}

}  // namespace tidemark::python
