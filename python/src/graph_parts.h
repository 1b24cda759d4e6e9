// What the bindings of static graphs share: who keeps whom alive, and nodes as numbers.
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include "python/src/bindings.h"
#include "python/src/values.h"
#include "tidemark/engine/graph/order.h"
#include "tidemark/engine/graph/schedule.h"

namespace tidemark::python {

using Numbers = py::array_t<std::uint32_t, py::array::c_style | py::array::forcecast>;
using GraphPointer = std::shared_ptr<Graph>;

// Accounts point into their graph, schedules and orders into their accounts.
struct HeldAccounts {
  HeldAccounts(GraphPointer g, GraphOptions options)
      : graph(std::move(g)), accounts(*graph, std::move(options)) {}
  GraphPointer graph;
  Accounts accounts;
};
using AccountsPointer = std::shared_ptr<HeldAccounts>;

struct HeldSchedule {
  explicit HeldSchedule(AccountsPointer a) : accounts(std::move(a)), schedule(accounts->accounts) {}
  AccountsPointer accounts;
  Schedule schedule;
};

struct HeldOrder {
  HeldOrder(AccountsPointer a, std::span<const NodeId> nodes)
      : accounts(std::move(a)), order(accounts->accounts, nodes) {}
  AccountsPointer accounts;
  Order order;
};

inline NodeId node_at(const Graph& graph, std::int64_t number) {
  return NodeId(static_cast<std::uint32_t>(indexed(number, graph.node_count())));
}

inline std::vector<NodeId> nodes_of(const std::optional<Numbers>& numbers) {
  std::vector<NodeId> nodes;
  if (!numbers) return nodes;
  nodes.reserve(static_cast<std::size_t>(numbers->size()));
  for (py::ssize_t i = 0; i < numbers->size(); ++i) nodes.emplace_back(numbers->data()[i]);
  return nodes;
}

template <class Ids>
Numbers numbers_of(const Ids& ids) {
  Numbers numbers(static_cast<py::ssize_t>(ids.size()));
  for (std::size_t i = 0; i < ids.size(); ++i) numbers.mutable_data()[i] = ids[i].value;
  return numbers;
}

inline py::object number_or_none(NodeId node) {
  return node ? py::object(py::int_(node.value)) : py::object(py::none());
}

void bind_schedule(py::module_& module);
void bind_order(py::module_& module);

}  // namespace tidemark::python
