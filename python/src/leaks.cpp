// find_leaks, Tape.leaks and LeaksAccumulator.
#include "tidemark/engine/analyses/leaks.h"

#include "python/src/analysis.h"

namespace tidemark::python {
namespace {

std::string describe(const LeakSite& site) {
  return (site.scope.empty() ? site.source : site.scope) + " " + format_bytes(site.allocated_bytes);
}

LeaksOptions leaks_options(std::int64_t top, std::optional<std::string> device) {
  return {std::move(device), counted(top, "top")};
}

void bind_leak_rows(py::module_& module) {
  py::class_<LeakSite>(module, "LeakSite", "A place whose storages grow from step to step.")
      .def_property_readonly("device", text(&LeakSite::device))
      .def_property_readonly("scope", text(&LeakSite::scope))
      .def_property_readonly("op", text(&LeakSite::op))
      .def_property_readonly("source", text(&LeakSite::source))
      .def_readonly("category", &LeakSite::category)
      .def_readonly("count", &LeakSite::count)
      .def_readonly("allocated_bytes", &LeakSite::allocated_bytes)
      .def_readonly("steps", &LeakSite::steps)
      .def_readonly("bytes_per_step", &LeakSite::bytes_per_step)
      .def_readonly("first_step", &LeakSite::first_step)
      .def_readonly("last_step", &LeakSite::last_step)
      .def("__repr__", [](const LeakSite& site) {
        return decoded("<LeakSite: " + describe(site) + ">");
      });
  py::class_<StepLevel>(module, "StepLevel", "What a device holds at the end of a step.")
      .def_property_readonly("device", text(&StepLevel::device))
      .def_readonly("step", &StepLevel::step)
      .def_readonly("allocated_bytes", &StepLevel::allocated_bytes)
      .def("__repr__", [](const StepLevel& level) {
        return decoded("<StepLevel: " + level.device + " step " + std::to_string(level.step) +
                       ", " + format_bytes(level.allocated_bytes) + ">");
      });
}

void bind_leak_answer(py::module_& module) {
  py::class_<LeaksAnswer> answer(module, "LeaksAnswer", "What grows and never dies.");
  add_reports(answer)
      .def_readonly("enough_steps", &LeaksAnswer::enough_steps)
      .def_readonly("finished_steps", &LeaksAnswer::finished_steps)
      .def_readonly("leaked_bytes", &LeaksAnswer::leaked_bytes)
      .def_readonly("sites", &LeaksAnswer::sites)
      .def_readonly("levels", &LeaksAnswer::levels)
      .def_readonly("diagnostics", &LeaksAnswer::diagnostics)
      .def("__repr__", [](const LeaksAnswer& leaks) {
        return decoded(summary("LeaksAnswer", leaks.sites, [](auto& s) { return describe(s); }));
      });
}

}  // namespace

void bind_leaks(py::module_& module, TapeClass& tape) {
  bind_leak_rows(module);
  bind_leak_answer(module);
  const py::arg_v top = py::arg("top") = 10, device = py::arg("device") = py::none();
  bind_analysis(module, tape, {"find_leaks", "leaks"}, &find_leaks, &leaks_options,
                "What grows from step to step and never dies.", py::kw_only(), top, device);
  bind_accumulator<LeaksAccumulator>(module, "LeaksAccumulator", &leaks_options, py::kw_only(),
                                     top, device);
}

}  // namespace tidemark::python
