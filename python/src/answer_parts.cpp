// The pieces that answers share: when something happened, and one storage.
#include "tidemark/engine/answers/parts.h"

#include <pybind11/native_enum.h>

#include "python/src/bindings.h"
#include "tidemark/engine/base/units.h"
#include "python/src/values.h"

namespace tidemark::python {
namespace {

std::string describe(const When& when) {
  std::string text = "<When: event " + std::to_string(when.event) + ", step " +
                     std::to_string(when.step) + ", " + std::string(name_of(when.phase));
  for (const std::string& word : {when.scope, when.op, when.source})
    if (!word.empty()) text += ", " + word;
  return text + ">";
}

std::string describe(const StorageFact& fact) {
  return "<StorageFact: storage " + std::to_string(fact.storage) + ", " +
         format_bytes(fact.allocated_bytes) + " " + std::string(name_of(fact.category)) + " on " +
         fact.device + ">";
}

}  // namespace

void bind_answer_parts(py::module_& module) {
  py::class_<When>(module, "When", "When and where something happened; empty text where not known.")
      .def_readonly("event", &When::event)
      .def_readonly("time_ns", &When::time_ns)
      .def_readonly("step", &When::step)
      .def_readonly("phase", &When::phase)
      .def_property_readonly("scope", text(&When::scope))
      .def_property_readonly("op", text(&When::op))
      .def_property_readonly("source", text(&When::source))
      .def("__repr__", [](const When& when) { return decoded(describe(when)); });

  py::class_<StorageFact>(module, "StorageFact", "One storage, and its birth.")
      .def_readonly("storage", &StorageFact::storage)
      .def_readonly("allocated_bytes", &StorageFact::allocated_bytes)
      .def_readonly("requested_bytes", &StorageFact::requested_bytes)
      .def_readonly("category", &StorageFact::category)
      .def_property_readonly("device", text(&StorageFact::device))
      .def_readonly("born", &StorageFact::born)
      .def("__repr__", [](const StorageFact& fact) { return decoded(describe(fact)); });
}

}  // namespace tidemark::python
