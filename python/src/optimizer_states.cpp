// The tensors of optimizers' states. There are as many states as parameters, and they are looked
// through after every step: in C, for the plain ones that nearly all optimizers have.
#include <algorithm>
#include <cstddef>
#include <unordered_set>
#include <vector>

#include "python/src/bindings.h"

namespace tidemark::python {
namespace {

bool holds_no_tensor(PyObject* value) {
  return value == Py_None || PyLong_Check(value) || PyFloat_Check(value) ||
         PyUnicode_Check(value) || PyBytes_Check(value);
}

// What is optimized, and its gradients, by their addresses.
std::unordered_set<PyObject*> optimized(const py::list& parameters) {
  std::unordered_set<PyObject*> found(2 * parameters.size());
  for (const py::handle parameter : parameters) {
    found.insert(parameter.ptr());
    found.insert(py::object(parameter.attr("grad")).ptr());
  }
  return found;
}

// Latest first, as those of any other state are found. False for a state with something to open.
bool add_tensors_of(PyObject* state, PyTypeObject* tensor, std::vector<PyObject*>& found) {
  if (!PyDict_CheckExact(state)) return false;
  const std::size_t before = found.size();
  PyObject *name = nullptr, *value = nullptr;
  for (Py_ssize_t at = 0; PyDict_Next(state, &at, &name, &value);) {
    if (PyObject_TypeCheck(value, tensor)) found.push_back(value);
    else if (!holds_no_tensor(value)) return false;
  }
  std::reverse(found.begin() + static_cast<std::ptrdiff_t>(before), found.end());
  return true;
}

py::list list_of(const std::vector<PyObject*>& objects) {
  py::list list(objects.size());
  for (std::size_t i = 0; i < objects.size(); ++i) list[i] = py::handle(objects[i]);
  return list;
}

// None where a state is no plain dictionary of tensors and numbers.
py::object plain_state_tensors(const py::dict& states, const py::type& tensor) {
  auto* const type = reinterpret_cast<PyTypeObject*>(tensor.ptr());
  std::vector<PyObject*> found;
  PyObject *parameter = nullptr, *state = nullptr;
  for (Py_ssize_t at = 0; PyDict_Next(states.ptr(), &at, &parameter, &state);)
    if (!add_tensors_of(state, type, found)) return py::none();
  return list_of(found);
}

py::list without_optimized(const py::list& tensors, const py::list& parameters) {
  const std::unordered_set<PyObject*> others = optimized(parameters);
  std::vector<PyObject*> kept;
  for (const py::handle one : tensors)
    if (!others.contains(one.ptr())) kept.push_back(one.ptr());
  return list_of(kept);
}

}  // namespace

void bind_optimizer_states(py::module_& module) {
  module.def("_plain_state_tensors", &plain_state_tensors, py::arg("states"), py::arg("tensor"));
  module.def("_without_optimized", &without_optimized, py::arg("tensors"), py::arg("parameters"));
}

}  // namespace tidemark::python
