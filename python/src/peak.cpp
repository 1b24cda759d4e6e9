// find_peak, Tape.peak and PeakAccumulator.
#include "tidemark/engine/analyses/peak.h"

#include "python/src/analysis.h"
#include "python/src/struct_class.h"

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

PeakOptions peak_options_of_tape(std::int64_t top, std::int64_t depth,
                                 std::optional<std::string> device,
                                 std::optional<std::int64_t> step,
                                 std::optional<std::string> allocator_settings) {
  PeakOptions options = peak_options(top, depth, std::move(device), step);
  options.allocator_settings = std::move(allocator_settings);
  return options;
}

void bind_shares(py::module_& module) {
  bind_struct<SiteShare>(module, "SiteShare", "Storages alike in kind, place, size and shape.",
                         field("count", &SiteShare::count),
                         field("each_bytes", &SiteShare::each_bytes),
                         field("allocated_bytes", &SiteShare::allocated_bytes),
                         field("category", &SiteShare::category), field("shape", &SiteShare::shape),
                         field("op", &SiteShare::op), field("source", &SiteShare::source),
                         field("scope", &SiteShare::scope))
      .def("__repr__", [](const SiteShare& site) {
        return decoded("<SiteShare: " + std::to_string(site.count) + " x " +
                       format_bytes(site.each_bytes) + " " + site.op + " " + site.source + ">");
      });
  bind_struct<LineShare>(module, "LineShare", "What one source line has made of the peak.",
                         field("source", &LineShare::source), field("count", &LineShare::count),
                         field("allocated_bytes", &LineShare::allocated_bytes),
                         field("categories", &LineShare::categories))
      .def("__repr__", [](const LineShare& line) {
        return decoded("<LineShare: " + line.source + " " + format_bytes(line.allocated_bytes) +
                       ">");
      });
}

void bind_peak_answer(py::module_& module) {
  bind_shares(module);
  bind_struct<ScopeShare>(module, "ScopeShare", "What one module owns at the peak.",
                          field("scope", &ScopeShare::scope),
                          field("allocated_bytes", &ScopeShare::allocated_bytes),
                          field("categories", &ScopeShare::categories))
      .def("__repr__", [](const ScopeShare& share) {
        return decoded("<ScopeShare: " + share.scope + " " + format_bytes(share.allocated_bytes) +
                       ">");
      });
  bind_struct<DevicePeak>(
      module, "DevicePeak", "The highest moment of one device.",
      field("device", &DevicePeak::device), field("allocated_bytes", &DevicePeak::allocated_bytes),
      field("requested_bytes", &DevicePeak::requested_bytes), field("at", &DevicePeak::at),
      field("categories", &DevicePeak::categories), field("alive_count", &DevicePeak::alive_count),
      field("largest", &DevicePeak::largest), field("owners", &DevicePeak::owners),
      field("modules", &DevicePeak::modules), field("sites", &DevicePeak::sites),
      field("lines", &DevicePeak::lines), field("allocator", &DevicePeak::allocator))
      .def("__repr__",
           [](const DevicePeak& peak) { return decoded("<DevicePeak: " + describe(peak) + ">"); });
  auto answer = bind_struct<PeakAnswer>(
      module, "PeakAnswer", "The highest moment of each device.",
      field("devices", &PeakAnswer::devices), field("events", &PeakAnswer::events),
      field("steps", &PeakAnswer::steps), field("diagnostics", &PeakAnswer::diagnostics));
  add_reports(answer).def("__repr__", [](const PeakAnswer& peak) {
    return decoded(summary("PeakAnswer", peak.devices, [](auto& d) { return describe(d); }));
  });
}

}  // namespace

void bind_peak(py::module_& module, TapeClass& tape) {
  bind_peak_answer(module);
  const py::arg_v top = py::arg("top") = 10, depth = py::arg("depth") = 3,
                  device = py::arg("device") = py::none(), step = py::arg("step") = py::none();
  bind_analysis(module, tape, {"find_peak", "peak"}, &find_peak, &peak_options_of_tape,
                "The highest moment of each device: how much, when, and what was alive.",
                py::kw_only(), top, depth, device, step,
                py::arg("allocator_settings") = py::none());
  bind_accumulator<PeakAccumulator>(module, "PeakAccumulator", &peak_options, py::kw_only(), top,
                                    depth, device, step);
}

}  // namespace tidemark::python
