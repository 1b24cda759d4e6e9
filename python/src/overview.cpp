// find_overview and Tape.report: the first look at a tape.
#include "tidemark/engine/analyses/overview.h"

#include "python/src/analysis.h"
#include "python/src/struct_class.h"

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

}  // namespace

void bind_overview(py::module_& module, TapeClass& tape) {
  auto answer = bind_struct<Overview>(
      module, "Overview", "Verdict, peak, scopes and timeline.", field("run", &Overview::run),
      field("verdict", &Overview::verdict), field("not_covered", &Overview::not_covered),
      field("meta", &Overview::meta), field("events", &Overview::events),
      field("steps", &Overview::steps), field("peak", &Overview::peak),
      field("scopes", &Overview::scopes), field("timeline", &Overview::timeline),
      field("diagnostics", &Overview::diagnostics));
  add_reports(answer).def("__repr__", [](const Overview& o) {
    return decoded("<Overview: " + format_count(o.events) + " events, " + format_count(o.steps) +
                   " steps>");
  });
  bind_analysis(module, tape, {"find_overview", "report"}, &find_overview, &overview_options,
                "The first look at a tape: verdict, peak, scopes and timeline together.",
                py::kw_only(), py::arg("top") = 10, py::arg("depth") = 3,
                py::arg("columns") = OverviewOptions().columns, py::arg("device") = py::none(),
                py::arg("step") = py::none(), py::arg("gpu") = py::none());
}

}  // namespace tidemark::python
