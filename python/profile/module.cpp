// The Python module tidemark._profile: the memory profile of a finished torch.profiler run.
//
// Import tidemark._engine and torch first: the types of both are used here.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>
#include <torch/csrc/autograd/profiler_kineto.h>

#include <map>
#include <string>

#include "python/profile/profile_objects.h"
#include "python/profile/told_owners.h"
#include "tidemark/engine/dataflow/dataflow_tape.h"
#include "tidemark/engine/dataflow/owned_tensors.h"
#include "tidemark/libtorch/bridges/profiler/torch_schemas.h"

namespace py = pybind11;

namespace tidemark::python {
namespace {

using torch::autograd::profiler::ProfilerResult;

std::shared_ptr<HeldProfile> analyse(const ProfilerResult& result, bool find_identity,
                                     bool find_tree, const py::list& told,
                                     const profiler::ModulePaths& paths) {
  profiler::ReadEvents read = profiler::read_events(result.event_tree(), paths);
  if (find_tree) read.recording.has_tree = false;
  add_told_owners(told, read.recording);
  const py::gil_scoped_release others_may_run;
  auto held = std::make_shared<HeldProfile>();
  held->events = std::move(read.events);
  held->roots = std::move(read.roots);
  held->dataflow = dataflow::find_dataflow(
      std::move(read.recording), profiler::torch_schemas,
      {find_identity ? dataflow::Identity::Found : dataflow::Identity::Recorded});
  return held;
}

// Pairs of what names a parameter and its gradient: (tensor id, allocation id, address, device).
py::list parameters_and_gradients(const std::shared_ptr<profiler::TorchEvent>& event) {
  const profiler::ReadEvents read = profiler::read_events({event});
  const dataflow::Tree tree = dataflow::build_tree(read.recording);
  const dataflow::Keys keys = dataflow::keys_as_recorded(read.recording, tree);
  const auto object = [&](dataflow::TensorRow tensor) -> py::object {
    const dataflow::KeyId key = keys.of(tensor);
    if (!key) return py::none();
    return key_parts(read.recording, keys.all[key.value]);
  };
  py::list found;
  dataflow::for_parameters_and_gradients(
      read.recording, tree, 0, [&](dataflow::TensorRow parameter, dataflow::TensorRow gradient) {
        found.append(py::make_tuple(object(parameter), object(gradient)));
      });
  return found;
}

// (address of the object, name of the class) of every module that was called.
py::list called_modules(const ProfilerResult& result) {
  py::list list;
  for (const profiler::CalledModule& module : profiler::called_modules(result.event_tree()))
    list.append(py::make_tuple(module.address, module.class_name));
  return list;
}

py::list problems(const HeldProfile& held) {
  py::list list;
  for (const Diagnostic& d : held.dataflow->diagnostics.all())
    list.append(py::make_tuple(d.code, std::string(name_of(d.severity)), d.count, d.message));
  return list;
}

}  // namespace
}  // namespace tidemark::python

PYBIND11_MODULE(_profile, m) {
  using namespace tidemark;
  using namespace tidemark::python;
  m.doc() = "The memory profile of a finished torch.profiler run";
  m.def("analyse", &analyse, py::arg("result"), py::kw_only(), py::arg("find_identity") = false,
        py::arg("find_tree") = false, py::arg("told") = py::list(),
        py::arg("paths") = profiler::ModulePaths());
  m.def("called_modules", &called_modules);
  m.def("parameters_and_gradients", &parameters_and_gradients);
  m.def("fitting_overloads", &profiler::fitting_overloads);
  py::class_<HeldProfile, std::shared_ptr<HeldProfile>>(m, "Profile")
      .def("event_count", [](const HeldProfile& held) { return held.events.size(); })
      .def("node_count", [](const HeldProfile& held) { return held.dataflow->flow.nodes.size(); })
      .def("sorted_events", &sorted_events)
      .def("node_event", &node_event)
      .def("edges", &edges_of_node)
      .def("keys", &key_table)
      .def("devices", [](const HeldProfile& held) { return held.dataflow->recording.devices; })
      .def("sizes", &size_table)
      .def("labels", &label_table)
      .def("snapshot", &snapshot)
      .def("dependent_tensors", &dependent_tensors)
      .def("timeline", &timeline_of_objects)
      .def("coalesced", &coalesced)
      .def("raw", &raw_timeline)
      .def("problems", &problems)
      .def("tape", [](const HeldProfile& held, const std::map<std::string, std::string>& meta) {
        return dataflow::tape_of_dataflow(*held.dataflow, meta);
      });
}
