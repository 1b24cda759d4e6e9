// Makes keys, sizes, events, edges and labels into Python's objects.
#include "python/profile/profile_objects.h"

#include "python/profile/torch_numbers.h"

namespace py = pybind11;

namespace tidemark::python {

using dataflow::Change;
using dataflow::Dataflow;
using dataflow::KeyId;

py::tuple key_parts(const dataflow::Recording& recording, const dataflow::Key& key) {
  return py::make_tuple(key.tensor_id, key.allocation_id, key.pointer,
                        recording.devices[key.device.value]);
}

py::list key_table(const HeldProfile& held) {
  const auto& keys = held.dataflow->keys.all;
  py::list list(keys.size());
  for (std::size_t k = 0; k < keys.size(); ++k)
    list[k] = key_parts(held.dataflow->recording, keys[k]);
  return list;
}

py::list size_table(const HeldProfile& held) {
  py::list list;
  for (std::int64_t bytes : held.dataflow->sizes)
    list.append(bytes == dataflow::kUnknownBytes ? py::object(py::none()) : py::int_(bytes));
  return list;
}

py::tuple sorted_events(const HeldProfile& held) {
  const dataflow::Tree& tree = held.dataflow->tree;
  py::tuple events(tree.size());
  for (std::size_t i = 0; i < tree.size(); ++i)
    events[i] = py::cast(held.events[tree.events[tree.by_time[i]].value]->shared_from_this());
  return events;
}

std::shared_ptr<const profiler::TorchEvent> node_event(const HeldProfile& held, std::size_t node) {
  const Dataflow& dataflow = *held.dataflow;
  return held.events.at(dataflow.tree.events[dataflow.flow.nodes.at(node)].value)
      ->shared_from_this();
}

py::list edges_of_node(const HeldProfile& held, std::size_t node) {
  if (node >= held.dataflow->flow.nodes.size()) throw py::index_error("no such node");
  const auto edges = held.dataflow->flow.edges_of(node);
  py::list list(edges.size());
  for (std::size_t i = 0; i < edges.size(); ++i) {
    const dataflow::Edge& edge = edges[i];
    const py::object version =
        edge.is_allocation() ? py::object(py::none()) : py::int_(edge.input_version);
    const py::object written =
        edge.is_deletion() ? py::object(py::none()) : py::bool_(edge.change == Change::Written);
    list[i] = py::make_tuple(edge.key.value, version, written);
  }
  return list;
}

py::tuple label_table(const HeldProfile& held) {
  const Dataflow& dataflow = *held.dataflow;
  py::list tensors, keys, versions;
  py::list named;
  for (std::uint32_t k = 0; k < dataflow.keys.size(); ++k) {
    const KeyId key(k);
    const std::uint32_t tensor = dataflow.keys.tensors[k];
    if (dataflow.labels.named(key)) named.append(k);
    if (k + 1 == dataflow.keys.size() || dataflow.keys.tensors[k + 1] != tensor) {
      const py::object label = category_number(dataflow.labels.of_tensor(tensor));
      if (!label.is_none())
        tensors.append(py::make_tuple(dataflow.keys.all[k].tensor_id, label, named));
      named = py::list();
    }
    const py::object label = category_number(dataflow.labels.of_key(key));
    if (!label.is_none()) keys.append(py::make_tuple(k, label));
    for (std::int32_t v = 0; v < dataflow.labels.rows().versions(key); ++v) {
      const py::object of_version =
          category_number(dataflow.labels.of_version(dataflow.labels.rows().row(key, v)));
      if (!of_version.is_none()) versions.append(py::make_tuple(k, v, of_version));
    }
  }
  return py::make_tuple(tensors, keys, versions);
}

py::list snapshot(const HeldProfile& held) {
  const Dataflow& dataflow = *held.dataflow;
  const std::vector<bool> in_use = versions_in_use(dataflow.known(), dataflow.labels);
  py::list list;
  for (std::uint32_t k = 0; k < dataflow.keys.size(); ++k)
    for (std::int32_t v = 0; v < dataflow.labels.rows().versions(KeyId(k)); ++v)
      if (in_use[dataflow.labels.rows().row(KeyId(k), v)])
        list.append(py::make_tuple(k, v, category_number(dataflow.labels(KeyId(k), v))));
  return list;
}

py::set dependent_tensors(const HeldProfile& held) {
  const Dataflow& dataflow = *held.dataflow;
  const std::vector<bool> dependent = depend_on_gradients(dataflow.known(), dataflow.labels);
  py::set ids;
  for (std::uint32_t k = 0; k < dataflow.keys.size(); ++k)
    if (dependent[dataflow.keys.tensors[k]]) ids.add(py::int_(dataflow.keys.all[k].tensor_id));
  return ids;
}

}  // namespace tidemark::python
