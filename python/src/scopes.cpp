// find_scopes, Tape.scopes and ScopesAccumulator.
#include "tidemark/engine/analyses/scopes.h"

#include "python/src/analysis.h"
#include "python/src/struct_class.h"

namespace tidemark::python {
namespace {

ScopesOptions scopes_options(std::int64_t depth, bool per_call, std::optional<std::string> device,
                             std::optional<std::int64_t> step) {
  ScopesOptions options;
  options.device = std::move(device);
  options.step = step;
  options.depth = counted(depth, "depth");
  options.per_call = per_call;
  return options;
}

void bind_calls(py::module_& module) {
  bind_struct<ScopeBytes>(module, "ScopeBytes", "One device's bytes around and inside calls.",
                          field("device", &ScopeBytes::device),
                          field("before", &ScopeBytes::before), field("after", &ScopeBytes::after),
                          field("peak", &ScopeBytes::peak), field("grown", &ScopeBytes::grown),
                          field("peak_categories", &ScopeBytes::peak_categories),
                          field("peak_event", &ScopeBytes::peak_event))
      .def("__repr__", [](const ScopeBytes& b) {
        return decoded("<ScopeBytes: " + b.device + " peak " + format_bytes(b.peak) + ">");
      });
  bind_struct<ScopeCalls>(
      module, "ScopeCalls", "One call of a scope, or all its calls in a phase.",
      field("phase", &ScopeCalls::phase), field("calls", &ScopeCalls::calls),
      field("first_call", &ScopeCalls::first_call), field("first_event", &ScopeCalls::first_event),
      field("last_event", &ScopeCalls::last_event), field("input_bytes", &ScopeCalls::input_bytes),
      field("output_bytes", &ScopeCalls::output_bytes), field("devices", &ScopeCalls::devices))
      .def("__repr__", [](const ScopeCalls& c) {
        return std::string("<ScopeCalls: ").append(name_of(c.phase)) + " x" +
               std::to_string(c.calls) + ">";
      });
}

void bind_scopes_answer(py::module_& module) {
  bind_struct<ScopeFacts>(module, "ScopeFacts", "What one scope does to memory.",
                          field("path", &ScopeFacts::path), field("depth", &ScopeFacts::depth),
                          field("parameter_bytes", &ScopeFacts::parameter_bytes),
                          field("buffer_bytes", &ScopeFacts::buffer_bytes),
                          field("phases", &ScopeFacts::phases), field("calls", &ScopeFacts::calls))
      .def("__repr__", [](const ScopeFacts& s) { return decoded("<ScopeFacts: " + s.path + ">"); });
  auto answer = bind_struct<ScopesAnswer>(
      module, "ScopesAnswer", "Every scope: before, after, peak.",
      field("scopes", &ScopesAnswer::scopes), field("diagnostics", &ScopesAnswer::diagnostics));
  add_reports(answer).def("__repr__", [](const ScopesAnswer& scopes) {
    return decoded(summary("ScopesAnswer", scopes.scopes, [](auto& s) { return s.path; }));
  });
}

}  // namespace

void bind_scopes(py::module_& module, TapeClass& tape) {
  bind_calls(module);
  bind_scopes_answer(module);
  const py::arg_v depth = py::arg("depth") = 0, per_call = py::arg("per_call") = false,
                  device = py::arg("device") = py::none(), step = py::arg("step") = py::none();
  bind_analysis(module, tape, {"find_scopes", "scopes"}, &find_scopes, &scopes_options,
                "What each module call does to memory: before, after, and the peak inside.",
                py::kw_only(), depth, per_call, device, step);
  bind_accumulator<ScopesAccumulator>(module, "ScopesAccumulator", &scopes_options, py::kw_only(),
                                      depth, per_call, device, step);
}

}  // namespace tidemark::python
