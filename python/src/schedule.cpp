// Schedule and Order: choices one at a time, and moves within a whole order.
#include "tidemark/engine/graph/schedule.h"

#include "python/src/graph_parts.h"

namespace tidemark::python {
namespace {

py::tuple level_of(Level level) { return py::make_tuple(level.bytes, level.peak); }

py::array_t<std::int64_t> schedule_all(HeldSchedule& self, const Numbers& nodes) {
  static_assert(sizeof(Level) == 2 * sizeof(std::int64_t));
  py::array_t<std::int64_t> rows({nodes.size(), py::ssize_t(2)});
  const auto count = static_cast<std::size_t>(nodes.size());
  self.schedule.schedule(nodes_of(nodes), {reinterpret_cast<Level*>(rows.mutable_data()), count});
  return rows;
}

// A function of an order about one node, or about a node and its place.
template <class Result>
auto about(Result (Order::*ask)(NodeId) const) {
  return [ask](const HeldOrder& self, std::int64_t node) {
    const Result result = (self.order.*ask)(node_at(*self.accounts->graph, node));
    if constexpr (std::is_same_v<Result, NodeId>) return number_or_none(result);
    else return result;
  };
}

auto moving(void (Order::*move)(NodeId, NodeId)) {
  return [move](HeldOrder& self, std::int64_t a, std::int64_t b) {
    (self.order.*move)(node_at(*self.accounts->graph, a), node_at(*self.accounts->graph, b));
  };
}

auto asking(bool (Order::*can)(NodeId, NodeId) const) {
  return [can](const HeldOrder& self, std::int64_t a, std::int64_t b) {
    return (self.order.*can)(node_at(*self.accounts->graph, a), node_at(*self.accounts->graph, b));
  };
}

}  // namespace

void bind_schedule(py::module_& module) {
  py::class_<HeldSchedule>(module, "Schedule",
                           "Nodes chosen one at a time. A level is (bytes, peak).")
      .def(
          "schedule",
          [](HeldSchedule& self, std::int64_t node) {
            return level_of(self.schedule.schedule(node_at(*self.accounts->graph, node)));
          },
          py::arg("node"), "The level after this node.")
      .def("schedule_all", &schedule_all, py::arg("nodes"), "One row (bytes, peak) for each node.")
      .def(
          "what_if",
          [](const HeldSchedule& self, std::int64_t node) {
            return level_of(self.schedule.what_if(node_at(*self.accounts->graph, node)));
          },
          py::arg("node"), "What schedule would return; nothing is changed.")
      .def(
          "undo", [](HeldSchedule& self) { self.schedule.undo(); }, "Takes the last choice back.")
      .def(
          "is_ready",
          [](const HeldSchedule& self, std::int64_t node) {
            return self.schedule.is_ready(node_at(*self.accounts->graph, node));
          },
          py::arg("node"), "Whether all its inputs are there.")
      .def_property_readonly("bytes", [](const HeldSchedule& s) { return s.schedule.now().bytes; })
      .def_property_readonly("peak", [](const HeldSchedule& s) { return s.schedule.now().peak; })
      .def_property_readonly("nodes",
                             [](const HeldSchedule& s) { return numbers_of(s.schedule.order()); });
}

void bind_order(py::module_& module) {
  const py::arg node("node"), place("place");
  py::class_<HeldOrder>(module, "Order", "A whole order under local moves; its peak after each.")
      .def("swap", moving(&Order::swap), py::arg("a"), py::arg("b"))
      .def("move_before", moving(&Order::move_before), node, place)
      .def("move_after", moving(&Order::move_after), node, place)
      .def("can_swap", asking(&Order::can_swap), py::arg("a"), py::arg("b"))
      .def("can_move_before", asking(&Order::can_move_before), node, place)
      .def("can_move_after", asking(&Order::can_move_after), node, place)
      .def("level_at", about(&Order::level_at), node)
      .def("level_after", about(&Order::level_after), node)
      .def("last_input", about(&Order::last_input), node)
      .def("first_user", about(&Order::first_user), node)
      .def_property_readonly("peak", [](const HeldOrder& self) { return self.order.peak(); })
      .def_property_readonly("peak_node",
                             [](const HeldOrder& s) { return number_or_none(s.order.peak_node()); })
      .def_property_readonly("nodes",
                             [](const HeldOrder& s) { return numbers_of(s.order.nodes()); });
}

}  // namespace tidemark::python
