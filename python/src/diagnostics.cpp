// The ledger of odd data, as a sequence.
#include "tidemark/engine/base/diagnostics.h"

#include "python/src/bindings.h"
#include "python/src/reports.h"
#include "python/src/struct_class.h"

namespace tidemark::python {
namespace {

std::string counted_code(const Diagnostic& d) { return d.code + " x" + std::to_string(d.count); }

Diagnostics restored_all(const py::tuple& state) {
  if (state.size() != 1) refuse_pickle();
  Diagnostics all;
  for (const Diagnostic& d : state[0].cast<std::vector<Diagnostic>>())
    all.add(d.code, d.severity, d.where, d.message, d.count);
  return all;
}

void bind_diagnostic(py::module_& module) {
  bind_struct<Diagnostic>(module, "Diagnostic", "One kind of problem, with its first place.",
                          field("code", &Diagnostic::code),
                          field("severity", &Diagnostic::severity),
                          field("count", &Diagnostic::count), field("where", &Diagnostic::where),
                          field("message", &Diagnostic::message))
      .def("__repr__", [](const Diagnostic& d) {
        return decoded("<Diagnostic: " + counted_code(d) + ", first at " + d.where + ">");
      });
}

}  // namespace

void bind_diagnostics(py::module_& module) {
  bind_diagnostic(module);
  py::class_<Diagnostics> type(module, "Diagnostics", "All problems met; false when none.");
  add_reports(type)
      .def("__len__", [](const Diagnostics& d) { return d.all().size(); })
      .def(
          "__getitem__",
          [](const Diagnostics& d, std::int64_t i) { return d.all()[indexed(i, d.all().size())]; },
          py::arg("index"))
      .def(
          "__iter__",
          [](const Diagnostics& d) { return py::make_iterator(d.all().begin(), d.all().end()); },
          py::keep_alive<0, 1>())
      .def_property_readonly("has_errors", &Diagnostics::has_errors)
      .def(
          "find",
          [](const Diagnostics& d, const std::string& code) -> std::optional<Diagnostic> {
            const Diagnostic* found = d.find(code);
            return found ? std::optional(*found) : std::nullopt;
          },
          py::arg("code"), "The problem of this code, or None.")
      .def(py::self == py::self)
      .def(py::pickle([](const Diagnostics& d) { return py::make_tuple(d.all()); }, &restored_all))
      .def("__repr__", [](const Diagnostics& d) {
        return decoded(summary("Diagnostics", d.all(), &counted_code));
      });
}

}  // namespace tidemark::python
