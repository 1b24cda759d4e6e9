// find_scopes, Tape.scopes and ScopesAccumulator.
#include "tidemark/engine/analyses/scopes.h"

#include "python/src/analysis.h"

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
  py::class_<ScopeBytes>(module, "ScopeBytes", "One device's bytes around and inside calls.")
      .def_property_readonly("device", text(&ScopeBytes::device))
      .def_readonly("before", &ScopeBytes::before)
      .def_readonly("after", &ScopeBytes::after)
      .def_readonly("peak", &ScopeBytes::peak)
      .def_readonly("grown", &ScopeBytes::grown)
      .def_property_readonly("peak_categories", categories(&ScopeBytes::peak_categories))
      .def_readonly("peak_event", &ScopeBytes::peak_event)
      .def("__repr__", [](const ScopeBytes& b) {
        return decoded("<ScopeBytes: " + b.device + " peak " + format_bytes(b.peak) + ">");
      });
  py::class_<ScopeCalls>(module, "ScopeCalls", "One call of a scope, or all its calls in a phase.")
      .def_readonly("phase", &ScopeCalls::phase)
      .def_readonly("calls", &ScopeCalls::calls)
      .def_readonly("first_call", &ScopeCalls::first_call)
      .def_readonly("first_event", &ScopeCalls::first_event)
      .def_readonly("last_event", &ScopeCalls::last_event)
      .def_readonly("input_bytes", &ScopeCalls::input_bytes)
      .def_readonly("output_bytes", &ScopeCalls::output_bytes)
      .def_readonly("devices", &ScopeCalls::devices)
      .def("__repr__", [](const ScopeCalls& c) {
        return std::string("<ScopeCalls: ").append(name_of(c.phase)) + " x" +
               std::to_string(c.calls) + ">";
      });
}

void bind_scopes_answer(py::module_& module) {
  py::class_<ScopeFacts>(module, "ScopeFacts", "What one scope does to memory.")
      .def_property_readonly("path", text(&ScopeFacts::path))
      .def_readonly("depth", &ScopeFacts::depth)
      .def_readonly("parameter_bytes", &ScopeFacts::parameter_bytes)
      .def_readonly("buffer_bytes", &ScopeFacts::buffer_bytes)
      .def_readonly("phases", &ScopeFacts::phases)
      .def_readonly("calls", &ScopeFacts::calls)
      .def("__repr__", [](const ScopeFacts& s) { return decoded("<ScopeFacts: " + s.path + ">"); });
  py::class_<ScopesAnswer> answer(module, "ScopesAnswer", "Every scope: before, after, peak.");
  add_reports(answer)
      .def_readonly("scopes", &ScopesAnswer::scopes)
      .def_readonly("diagnostics", &ScopesAnswer::diagnostics)
      .def("__repr__", [](const ScopesAnswer& scopes) {
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
