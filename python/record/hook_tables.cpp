// One call with Python's lock held from the look at the table to its change.
#include "python/record/hook_tables.h"

namespace py = pybind11;

namespace tidemark::recorder {
namespace {

// Puts the hook under its number, or takes it away (None), and returns 0; or only tells how many
// use the table beside its module, if these are more than `known`: whoever walks over it is one,
// and would be told that it has changed.
Py_ssize_t change_table(py::handle module, const char* name, py::handle number, py::handle hook,
                        Py_ssize_t known) {
  const py::object table = module.attr(name);
  const Py_ssize_t users = Py_REFCNT(table.ptr()) - 2;
  if (users > known) return users;
  if (!hook.is_none()) {
    if (PyObject_SetItem(table.ptr(), number.ptr(), hook.ptr()) != 0) throw py::error_already_set();
  } else if (PySequence_Contains(table.ptr(), number.ptr()) == 1) {
    if (PyObject_DelItem(table.ptr(), number.ptr()) != 0) throw py::error_already_set();
  }
  return 0;
}

}  // namespace

void bind_hook_tables(py::module_& m) { m.def("change_table", &change_table); }

}  // namespace tidemark::recorder
