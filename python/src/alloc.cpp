// find_alloc and Tape.alloc: settings of the caching allocator side by side.
#include "tidemark/engine/analyses/alloc.h"

#include "python/src/analysis.h"
#include "python/src/struct_class.h"

namespace tidemark::python {
namespace {

std::string describe(const DeviceSettings& device) {
  return device.device + " " + (device.best.empty() ? "none is worth setting" : device.best);
}

AllocOptions alloc_options(std::vector<std::string> settings,
                           std::optional<std::int64_t> memory_bytes,
                           std::optional<std::string> device, std::optional<std::int64_t> step) {
  AllocOptions options;
  options.device = std::move(device);
  options.step = step;
  options.settings = std::move(settings);
  options.memory_bytes = memory_bytes;
  return options;
}

void bind_rows(py::module_& module) {
  bind_struct<AllocatorPeak>(module, "AllocatorPeak",
                             "The highest moments of a GPU's caching allocator.",
                             field("allocated_bytes", &AllocatorPeak::allocated_bytes),
                             field("active_bytes", &AllocatorPeak::active_bytes),
                             field("reserved_bytes", &AllocatorPeak::reserved_bytes),
                             field("fragmented_bytes", &AllocatorPeak::fragmented_bytes),
                             field("reserved_peak_bytes", &AllocatorPeak::reserved_peak_bytes),
                             field("reserved_at", &AllocatorPeak::reserved_at))
      .def("__repr__", [](const AllocatorPeak& peak) {
        return decoded("<AllocatorPeak: " + format_bytes(peak.allocated_bytes) + " allocated, " +
                       format_bytes(peak.reserved_peak_bytes) + " reserved>");
      });
  bind_struct<SettingOutcome>(
      module, "SettingOutcome", "A run under one setting.",
      field("settings", &SettingOutcome::settings), field("peak", &SettingOutcome::peak),
      field("retries", &SettingOutcome::retries), field("failures", &SettingOutcome::failures))
      .def("__repr__", [](const SettingOutcome& one) {
        return decoded("<SettingOutcome: " + one.settings + " " +
                       format_bytes(one.peak.reserved_peak_bytes) + ">");
      });
  bind_struct<DeviceSettings>(
      module, "DeviceSettings", "The settings of one GPU, side by side.",
      field("device", &DeviceSettings::device), field("outcomes", &DeviceSettings::outcomes),
      field("best", &DeviceSettings::best), field("saved_bytes", &DeviceSettings::saved_bytes))
      .def("__repr__", [](const DeviceSettings& device) {
        return decoded("<DeviceSettings: " + describe(device) + ">");
      });
}

}  // namespace

void bind_alloc(py::module_& module, TapeClass& tape) {
  bind_rows(module);
  auto answer = bind_struct<AllocAnswer>(
      module, "AllocAnswer", "What the caching allocator holds, setting by setting.",
      field("devices", &AllocAnswer::devices), field("room_bytes", &AllocAnswer::room_bytes),
      field("diagnostics", &AllocAnswer::diagnostics));
  add_reports(answer).def("__repr__", [](const AllocAnswer& alloc) {
    return decoded(summary("AllocAnswer", alloc.devices, [](auto& d) { return describe(d); }));
  });
  bind_analysis(module, tape, {"find_alloc", "alloc"}, &find_alloc, &alloc_options,
                "What PyTorch's caching allocator would reserve under each useful setting.",
                py::kw_only(), py::arg("settings") = std::vector<std::string>(),
                py::arg("memory_bytes") = py::none(), py::arg("device") = py::none(),
                py::arg("step") = py::none());
}

}  // namespace tidemark::python
