// find_overview and Tape.report: the first look at a tape.
#include "tidemark/engine/analyses/overview.h"

#include "python/src/analysis.h"

namespace tidemark::python {
namespace {

OverviewOptions overview_options(std::int64_t top, std::int64_t depth, std::int64_t columns,
                                 std::optional<std::string> device,
                                 std::optional<std::int64_t> step, std::optional<GpuFacts> gpu) {
  OverviewOptions options;
  options.device = std::move(device);
  options.step = step;
  options.gpu = std::move(gpu);
  options.top = counted(top, "top");
  options.depth = counted(depth, "depth");
  options.columns = counted(columns, "columns");
  return options;
}

py::dict meta_of_overview(const Overview& overview) {
  py::dict found;
  for (const auto& [key, value] : overview.meta) found[decoded(key)] = decoded(value);
  return found;
}

}  // namespace

void bind_overview(py::module_& module, TapeClass& tape) {
  py::class_<Overview> answer(module, "Overview", "Verdict, peak, scopes and timeline.");
  add_reports(answer)
      .def_readonly("run", &Overview::run)
      .def_readonly("verdict", &Overview::verdict)
      .def_property_readonly("not_covered", texts(&Overview::not_covered))
      .def_property_readonly("meta", &meta_of_overview)
      .def_readonly("events", &Overview::events)
      .def_readonly("steps", &Overview::steps)
      .def_readonly("peak", &Overview::peak)
      .def_readonly("scopes", &Overview::scopes)
      .def_readonly("timeline", &Overview::timeline)
      .def_readonly("diagnostics", &Overview::diagnostics)
      .def("__repr__", [](const Overview& o) {
        return decoded("<Overview: " + format_count(o.events) + " events, " +
                       format_count(o.steps) + " steps>");
      });
  bind_analysis(module, tape, {"find_overview", "report"}, &find_overview, &overview_options,
                "The first look at a tape: verdict, peak, scopes and timeline together.",
                py::kw_only(), py::arg("top") = 10, py::arg("depth") = 3,
                py::arg("columns") = OverviewOptions().columns, py::arg("device") = py::none(),
                py::arg("step") = py::none(), py::arg("gpu") = py::none());
}

}  // namespace tidemark::python
