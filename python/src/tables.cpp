// The tables that the numbers in a tape's columns point into.
#include "tidemark/engine/tape/tables.h"

#include <pybind11/stl.h>

#include "python/src/bindings.h"
#include "python/src/values.h"
#include "tidemark/engine/base/rounding.h"

namespace tidemark::python {
namespace {

using FrameTuple = std::tuple<py::str, std::uint32_t, py::str>;

// A row's number is its place in the list.
template <class Rows, class Say>
py::list listed(const Rows& rows, Say&& say) {
  py::list list(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) list[i] = say(rows[i]);
  return list;
}

py::list sources(const Tables& tables) {
  py::list list(tables.stacks().size());
  for (std::size_t i = 0; i < list.size(); ++i)
    list[i] = decoded(tables.source(StackId(static_cast<std::uint32_t>(i))));
  return list;
}

std::vector<FrameTuple> frames(const Tables& tables, std::int64_t stack) {
  std::vector<FrameTuple> found;
  StackId id(static_cast<std::uint32_t>(indexed(stack, tables.stacks().size())));
  for (; id; id = tables.stacks()[id.value].parent) {
    const Frame& frame = tables.stacks()[id.value].frame;
    found.emplace_back(decoded(tables.strings[frame.file]), frame.line,
                       decoded(tables.strings[frame.function]));
  }
  return found;
}

}  // namespace

void bind_tables(py::module_& module) {
  module.attr("CUDA_GRANULARITY") = kCudaGranularity;
  py::class_<Device>(module, "Device", "A device, and how its allocator rounds requests.")
      .def_property_readonly("name", text(&Device::name))
      .def_readonly("granularity", &Device::granularity)
      .def(
          "allocated_bytes",
          [](const Device& d, std::int64_t requested) {
            return rounded_up(requested, d.granularity);
          },
          py::arg("requested"), "What the device's allocator accounts for a request.")
      .def("__repr__", [](const Device& d) { return decoded("<Device: " + d.name + ">"); });

  py::class_<Tables>(module, "Tables", "What the numbers in the columns point into.")
      .def_property_readonly("devices", &Tables::devices)
      .def_property_readonly("streams", &Tables::streams)
      .def_property_readonly(
          "scopes",
          [](const Tables& t) {
            return listed(t.scopes(), [&](const Scope& s) { return decoded(t.strings[s.path]); });
          })
      .def_property_readonly("calls",
                             [](const Tables& t) {
                               return listed(t.calls(), [&](const Call& c) {
                                 return py::make_tuple(decoded(t.strings[c.op]),
                                                       decoded(t.strings[c.signature]));
                               });
                             })
      .def_property_readonly("sources", &sources)
      .def("frames", &frames, py::arg("stack"),
           "The source lines of a stack as (file, line, function), innermost first.");
}

}  // namespace tidemark::python
