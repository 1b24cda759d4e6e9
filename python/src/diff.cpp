// find_diff and Tape.diff.
#include "tidemark/engine/analyses/diff.h"

#include "python/src/bindings.h"
#include "python/src/reports.h"

namespace tidemark::python {
namespace {

std::string describe(const DeviceDiff& diff) {
  return diff.device + " " + format_change(diff.peak.after - diff.peak.before);
}

DiffAnswer diff(const Tape& before, const Tape& after, std::int64_t top,
                std::optional<std::string> device, std::optional<std::int64_t> step) {
  DiffOptions options;
  options.device = std::move(device);
  options.step = step;
  options.top = counted(top, "top");
  return find_diff(before, after, options);
}

void bind_diff_rows(py::module_& module) {
  py::class_<Difference>(module, "Difference", "One thing's bytes in the two tapes.")
      .def_property_readonly("name", text(&Difference::name))
      .def_readonly("before", &Difference::before)
      .def_readonly("after", &Difference::after)
      .def("__repr__", [](const Difference& d) {
        return decoded("<Difference: " + d.name + " " + format_change(d.after - d.before) + ">");
      });
  py::class_<DeviceDiff>(module, "DeviceDiff", "What differs on one device.")
      .def_property_readonly("device", text(&DeviceDiff::device))
      .def_readonly("peak", &DeviceDiff::peak)
      .def_readonly("categories", &DeviceDiff::categories)
      .def_readonly("scopes", &DeviceDiff::scopes)
      .def_readonly("ops", &DeviceDiff::ops)
      .def("__repr__", [](const DeviceDiff& d) {
        return decoded("<DeviceDiff: " + describe(d) + ">");
      });
}

}  // namespace

void bind_diff(py::module_& module, TapeClass& tape) {
  bind_diff_rows(module);
  py::class_<DiffAnswer> answer(module, "DiffAnswer", "Two tapes side by side.");
  add_reports(answer)
      .def_readonly("same", &DiffAnswer::same)
      .def_readonly("devices", &DiffAnswer::devices)
      .def_readonly("diagnostics", &DiffAnswer::diagnostics)
      .def("__repr__", [](const DiffAnswer& d) {
        return decoded(summary("DiffAnswer", d.devices, [](auto& row) { return describe(row); }));
      });
  using Release = py::call_guard<py::gil_scoped_release>;
  const py::arg_v top = py::arg("top") = 10, device = py::arg("device") = py::none(),
                  step = py::arg("step") = py::none();
  module.def("find_diff", &diff, py::arg("before"), py::arg("after"), py::kw_only(), top, device,
             step, Release(), "What grew from one tape to another, by category, scope and op.");
  tape.def("diff", &diff, py::arg("after"), py::kw_only(), top, device, step, Release(),
           "What grew from this tape to another.");
}

}  // namespace tidemark::python
