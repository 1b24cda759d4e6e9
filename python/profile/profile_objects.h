// Parts of a memory profile as Python's own lists and tuples, each made when it is asked for.
#pragma once

#include <pybind11/pybind11.h>

#include <memory>
#include <string>
#include <vector>

#include "tidemark/engine/dataflow/dataflow.h"
#include "tidemark/libtorch/bridges/profiler/event_reader.h"

namespace tidemark::python {

// A profile as Python holds it: with torch's events, by row of the recording.
struct HeldProfile {
  std::vector<const profiler::TorchEvent*> events;
  profiler::TorchEvents roots;  // keep all of them
  std::unique_ptr<const dataflow::Dataflow> dataflow;
};

// (tensor id, allocation id, address, name of the device).
pybind11::tuple key_parts(const dataflow::Recording& recording, const dataflow::Key& key);
pybind11::list key_table(const HeldProfile& held);
// By key; None: not known.
pybind11::list size_table(const HeldProfile& held);

// Torch's events by start.
pybind11::tuple sorted_events(const HeldProfile& held);
std::shared_ptr<const profiler::TorchEvent> node_event(const HeldProfile& held, std::size_t node);
// (key, input version or None, written or None where it is deleted) of each edge of a node.
pybind11::list edges_of_node(const HeldProfile& held, std::size_t node);

// Three lists: (tensor id, category, keys named with it), (key, category), (key, version,
// category). A category is a number of PyTorch's Category.
pybind11::tuple label_table(const HeldProfile& held);
// (key, version, category or None) of every version in use, sorted.
pybind11::list snapshot(const HeldProfile& held);
// The ids of tensors that depend on a gradient in any version.
pybind11::set dependent_tensors(const HeldProfile& held);

// PyTorch's timeline, of the caller's objects: keys by number, plain keys by number of the device,
// actions by number.
pybind11::tuple timeline_of_objects(const HeldProfile& held, const pybind11::list& keys,
                                    const pybind11::list& device_keys,
                                    const pybind11::list& actions);
// (times, rows) of a device by its name.
pybind11::tuple coalesced(const HeldProfile& held, const std::string& device);
// (time, action, signed bytes, category in the order of export) of a device by its name.
pybind11::list raw_timeline(const HeldProfile& held, const std::string& device);

}  // namespace tidemark::python
