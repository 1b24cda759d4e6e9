// find_timeline, Tape.timeline and TimelineAccumulator.
#include "tidemark/engine/analyses/timeline.h"

#include <pybind11/numpy.h>

#include "python/src/analysis.h"
#include "python/src/struct_class.h"

namespace tidemark::python {
namespace {

std::string describe(const DeviceTimeline& timeline) {
  return timeline.device + " " + format_count(static_cast<std::int64_t>(timeline.points.size())) +
         " points";
}

TimelineOptions timeline_options(std::int64_t columns, const AxisWord& by,
                                 std::optional<std::string> device,
                                 std::optional<std::int64_t> step) {
  TimelineOptions options;
  options.device = std::move(device);
  options.step = step;
  options.axis = axis_of(by);
  options.columns = counted(columns, "columns");
  return options;
}

// One field of all points: a view with the size of a point as its stride. `inner` is the shape
// of the field itself.
py::array field_view(const py::object& owner, const std::vector<TimelinePoint>& points,
                     std::size_t offset, std::vector<py::ssize_t> inner = {}) {
  std::vector<py::ssize_t> shape = {static_cast<py::ssize_t>(points.size())};
  std::vector<py::ssize_t> strides = {sizeof(TimelinePoint)};
  shape.insert(shape.end(), inner.begin(), inner.end());
  strides.insert(strides.end(), inner.size(), sizeof(std::int64_t));
  const auto* base = reinterpret_cast<const std::byte*>(points.data());
  const void* first = points.empty() ? nullptr : base + offset;
  py::array view(py::dtype::of<std::int64_t>(), shape, strides, first, owner);
  view.attr("setflags")(py::arg("write") = false);
  return view;
}

py::dict columns(const py::object& self) {
  const auto& points = self.cast<const DeviceTimeline&>().points;
  py::dict found;
  found["event"] = field_view(self, points, offsetof(TimelinePoint, event));
  found["time_ns"] = field_view(self, points, offsetof(TimelinePoint, time_ns));
  found["step"] = field_view(self, points, offsetof(TimelinePoint, step));
  found["lowest"] = field_view(self, points, offsetof(TimelinePoint, lowest));
  found["highest"] = field_view(self, points, offsetof(TimelinePoint, highest));
  found["categories"] =
      field_view(self, points, offsetof(TimelinePoint, categories), {kCategoryCount});
  return found;
}

void bind_points(py::module_& module) {
  bind_struct<TimelinePoint>(
      module, "TimelinePoint", "A change, or a column of many, as it was at its highest.",
      field("event", &TimelinePoint::event), field("time_ns", &TimelinePoint::time_ns),
      field("step", &TimelinePoint::step), field("phase", &TimelinePoint::phase),
      field("lowest", &TimelinePoint::lowest), field("highest", &TimelinePoint::highest),
      field("categories", &TimelinePoint::categories))
      .def("__repr__", [](const TimelinePoint& p) {
        return "<TimelinePoint: event " + std::to_string(p.event) + ", " + format_bytes(p.highest) +
               ">";
      });
  bind_struct<DeviceTimeline>(module, "DeviceTimeline", "The points of one device, in order.",
                              field("device", &DeviceTimeline::device),
                              field("points", &DeviceTimeline::points))
      .def_property_readonly("columns", &columns,
                             "Each field as a numpy view; categories by their number.")
      .def("__repr__", [](const DeviceTimeline& t) {
        return decoded("<DeviceTimeline: " + describe(t) + ">");
      });
}

void bind_timeline_answer(py::module_& module) {
  auto answer = bind_struct<TimelineAnswer>(
      module, "TimelineAnswer", "Bytes over events or time.", field("axis", &TimelineAnswer::axis),
      field("first", &TimelineAnswer::first), field("last", &TimelineAnswer::last),
      field("devices", &TimelineAnswer::devices),
      field("diagnostics", &TimelineAnswer::diagnostics));
  add_reports(answer).def("__repr__", [](const TimelineAnswer& t) {
    return decoded(summary("TimelineAnswer", t.devices, [](auto& d) { return describe(d); }));
  });
}

}  // namespace

void bind_timeline(py::module_& module, TapeClass& tape) {
  bind_points(module);
  bind_timeline_answer(module);
  const py::arg_v columns = py::arg("columns") = 0, by = py::arg("by") = "events",
                  device = py::arg("device") = py::none(), step = py::arg("step") = py::none();
  bind_analysis(module, tape, {"find_timeline", "timeline"}, &find_timeline, &timeline_options,
                "Bytes by category over events or time: every change, or at most so many columns.",
                py::kw_only(), columns, by, device, step);
  bind_accumulator<TimelineAccumulator>(module, "TimelineAccumulator", &timeline_options,
                                        py::kw_only(), columns, by, device, step);
}

}  // namespace tidemark::python
