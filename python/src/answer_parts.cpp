// The pieces that answers share: when something happened, and one storage.
#include "tidemark/engine/answers/parts.h"

#include "python/src/bindings.h"
#include "python/src/struct_class.h"
#include "tidemark/engine/base/units.h"

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
  bind_struct<When>(
      module, "When", "When and where something happened; empty text where not known.",
      field("event", &When::event), field("time_ns", &When::time_ns), field("step", &When::step),
      field("phase", &When::phase), field("scope", &When::scope), field("op", &When::op),
      field("source", &When::source))
      .def("__repr__", [](const When& when) { return decoded(describe(when)); });

  bind_struct<StorageFact>(module, "StorageFact", "One storage, and its birth.",
                           field("storage", &StorageFact::storage),
                           field("allocated_bytes", &StorageFact::allocated_bytes),
                           field("requested_bytes", &StorageFact::requested_bytes),
                           field("category", &StorageFact::category),
                           field("device", &StorageFact::device), field("born", &StorageFact::born))
      .def("__repr__", [](const StorageFact& fact) { return decoded(describe(fact)); });
}

}  // namespace tidemark::python
