// find_leaks, Tape.leaks and LeaksAccumulator.
#include "tidemark/engine/analyses/leaks.h"

#include "python/src/analysis.h"
#include "python/src/struct_class.h"

namespace tidemark::python {
namespace {

std::string describe(const LeakSite& site) {
  return (site.scope.empty() ? site.source : site.scope) + " " + format_bytes(site.allocated_bytes);
}

LeaksOptions leaks_options(std::int64_t top, std::optional<std::string> device) {
  return {std::move(device), counted(top, "top")};
}

void bind_leak_rows(py::module_& module) {
  bind_struct<LeakSite>(
      module, "LeakSite", "A place whose storages grow from step to step.",
      field("device", &LeakSite::device), field("scope", &LeakSite::scope),
      field("op", &LeakSite::op), field("source", &LeakSite::source),
      field("category", &LeakSite::category), field("count", &LeakSite::count),
      field("allocated_bytes", &LeakSite::allocated_bytes), field("steps", &LeakSite::steps),
      field("bytes_per_step", &LeakSite::bytes_per_step),
      field("first_step", &LeakSite::first_step), field("last_step", &LeakSite::last_step))
      .def("__repr__",
           [](const LeakSite& site) { return decoded("<LeakSite: " + describe(site) + ">"); });
  bind_struct<StepLevel>(module, "StepLevel", "What a device holds at the end of a step.",
                         field("device", &StepLevel::device), field("step", &StepLevel::step),
                         field("allocated_bytes", &StepLevel::allocated_bytes))
      .def("__repr__", [](const StepLevel& level) {
        return decoded("<StepLevel: " + level.device + " step " + std::to_string(level.step) +
                       ", " + format_bytes(level.allocated_bytes) + ">");
      });
}

void bind_leak_answer(py::module_& module) {
  auto answer = bind_struct<LeaksAnswer>(
      module, "LeaksAnswer", "What grows and never dies.",
      field("enough_steps", &LeaksAnswer::enough_steps),
      field("finished_steps", &LeaksAnswer::finished_steps),
      field("leaked_bytes", &LeaksAnswer::leaked_bytes), field("sites", &LeaksAnswer::sites),
      field("levels", &LeaksAnswer::levels), field("diagnostics", &LeaksAnswer::diagnostics));
  add_reports(answer).def("__repr__", [](const LeaksAnswer& leaks) {
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
  bind_accumulator<LeaksAccumulator>(module, "LeaksAccumulator", &leaks_options, py::kw_only(), top,
                                     device);
}

}  // namespace tidemark::python
