// find_diff and Tape.diff.
#include "tidemark/engine/analyses/diff.h"

#include "python/src/bindings.h"
#include "python/src/reports.h"
#include "python/src/struct_class.h"

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
  bind_struct<Difference>(module, "Difference", "One thing's bytes in the two tapes.",
                          field("name", &Difference::name), field("before", &Difference::before),
                          field("after", &Difference::after))
      .def("__repr__", [](const Difference& d) {
        return decoded("<Difference: " + d.name + " " + format_change(d.after - d.before) + ">");
      });
  bind_struct<DeviceDiff>(module, "DeviceDiff", "What differs on one device.",
                          field("device", &DeviceDiff::device), field("peak", &DeviceDiff::peak),
                          field("categories", &DeviceDiff::categories),
                          field("scopes", &DeviceDiff::scopes), field("ops", &DeviceDiff::ops))
      .def("__repr__",
           [](const DeviceDiff& d) { return decoded("<DeviceDiff: " + describe(d) + ">"); });
}

}  // namespace

void bind_diff(py::module_& module, TapeClass& tape) {
  bind_diff_rows(module);
  auto answer = bind_struct<DiffAnswer>(
      module, "DiffAnswer", "Two tapes side by side.", field("same", &DiffAnswer::same),
      field("devices", &DiffAnswer::devices), field("diagnostics", &DiffAnswer::diagnostics));
  add_reports(answer).def("__repr__", [](const DiffAnswer& d) {
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
