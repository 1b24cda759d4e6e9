// find_peak, Tape.peak and PeakAccumulator.
#include "tidemark/engine/analyses/peak.h"

#include "python/src/analysis.h"

namespace tidemark::python {
namespace {

std::string describe(const DevicePeak& peak) {
  return peak.device + " " + format_bytes(peak.allocated_bytes);
}

PeakOptions peak_options(std::int64_t top, std::int64_t depth, std::optional<std::string> device,
                         std::optional<std::int64_t> step) {
  PeakOptions options;
  options.device = std::move(device);
  options.step = step;
  options.top = counted(top, "top");
  options.depth = counted(depth, "depth");
  return options;
}

void bind_shares(py::module_& module) {
  py::class_<SiteShare>(module, "SiteShare", "Storages alike in kind, place, size and shape.")
      .def_readonly("count", &SiteShare::count)
      .def_readonly("each_bytes", &SiteShare::each_bytes)
      .def_readonly("allocated_bytes", &SiteShare::allocated_bytes)
      .def_readonly("category", &SiteShare::category)
      .def_property_readonly("shape", text(&SiteShare::shape))
      .def_property_readonly("op", text(&SiteShare::op))
      .def_property_readonly("source", text(&SiteShare::source))
      .def_property_readonly("scope", text(&SiteShare::scope))
      .def("__repr__", [](const SiteShare& site) {
        return decoded("<SiteShare: " + std::to_string(site.count) + " x " +
                       format_bytes(site.each_bytes) + " " + site.op + " " + site.source + ">");
      });
  py::class_<LineShare>(module, "LineShare", "What one source line has made of the peak.")
      .def_property_readonly("source", text(&LineShare::source))
      .def_readonly("count", &LineShare::count)
      .def_readonly("allocated_bytes", &LineShare::allocated_bytes)
      .def_property_readonly("categories", categories(&LineShare::categories))
      .def("__repr__", [](const LineShare& line) {
        return decoded("<LineShare: " + line.source + " " + format_bytes(line.allocated_bytes) +
                       ">");
      });
}

void bind_peak_answer(py::module_& module) {
  bind_shares(module);
  py::class_<ScopeShare>(module, "ScopeShare", "What one module owns at the peak.")
      .def_property_readonly("scope", text(&ScopeShare::scope))
      .def_readonly("allocated_bytes", &ScopeShare::allocated_bytes)
      .def_property_readonly("categories", categories(&ScopeShare::categories))
      .def("__repr__", [](const ScopeShare& share) {
        return decoded("<ScopeShare: " + share.scope + " " + format_bytes(share.allocated_bytes) +
                       ">");
      });
  py::class_<DevicePeak>(module, "DevicePeak", "The highest moment of one device.")
      .def_property_readonly("device", text(&DevicePeak::device))
      .def_readonly("allocated_bytes", &DevicePeak::allocated_bytes)
      .def_readonly("requested_bytes", &DevicePeak::requested_bytes)
      .def_readonly("at", &DevicePeak::at)
      .def_property_readonly("categories", categories(&DevicePeak::categories))
      .def_readonly("alive_count", &DevicePeak::alive_count)
      .def_readonly("largest", &DevicePeak::largest)
      .def_readonly("owners", &DevicePeak::owners)
      .def_readonly("modules", &DevicePeak::modules)
      .def_readonly("sites", &DevicePeak::sites)
      .def_readonly("lines", &DevicePeak::lines)
      .def("__repr__", [](const DevicePeak& peak) {
        return decoded("<DevicePeak: " + describe(peak) + ">");
      });
  py::class_<PeakAnswer> answer(module, "PeakAnswer", "The highest moment of each device.");
  add_reports(answer)
      .def_readonly("devices", &PeakAnswer::devices)
      .def_readonly("events", &PeakAnswer::events)
      .def_readonly("steps", &PeakAnswer::steps)
      .def_readonly("diagnostics", &PeakAnswer::diagnostics)
      .def("__repr__", [](const PeakAnswer& peak) {
        return decoded(summary("PeakAnswer", peak.devices, [](auto& d) { return describe(d); }));
      });
}

}  // namespace

void bind_peak(py::module_& module, TapeClass& tape) {
  bind_peak_answer(module);
  const py::arg_v top = py::arg("top") = 10, depth = py::arg("depth") = 3, device = py::arg("device") = py::none(),
                  step = py::arg("step") = py::none();
  bind_analysis(module, tape, {"find_peak", "peak"}, &find_peak, &peak_options,
                "The highest moment of each device: how much, when, and what was alive.",
                py::kw_only(), top, depth, device, step);
  bind_accumulator<PeakAccumulator>(module, "PeakAccumulator", &peak_options, py::kw_only(), top,
                                    depth, device, step);
}

}  // namespace tidemark::python
