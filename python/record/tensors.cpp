// Walks the usual containers in C++, and asks Python about the rest.
#include "python/record/tensors.h"

#include <torch/csrc/autograd/python_variable.h>

namespace tidemark::recorder {
namespace {

namespace py = pybind11;

PyObject* g_opener = nullptr;

struct Found {
  Tensors tensors;
  Wrappers wrappers;
};

void collect(PyObject* value, Found& all);

void open(PyObject* value, Found& all) {
  if (!g_opener) return;
  const auto inside =
      py::reinterpret_steal<py::object>(PyObject_CallFunctionObjArgs(g_opener, value, nullptr));
  if (!inside) throw py::error_already_set();
  if (!inside.is_none()) collect(inside.ptr(), all);
}

// Of DTensor itself, the wrapper that FSDP2 has for every parameter, what is inside is known:
// Python need not run for each. False for any other.
bool open_dtensor(PyObject* value, Found& all) {
  static PyObject* kind = nullptr;
  if (!kind) {
    static PyObject* const name = PyUnicode_InternFromString("torch.distributed.tensor");
    PyObject* const module = PyDict_GetItem(PyImport_GetModuleDict(), name);
    kind = module ? PyObject_GetAttrString(module, "DTensor") : nullptr;
    if (!kind) PyErr_Clear();
  }
  if (reinterpret_cast<PyObject*>(Py_TYPE(value)) != kind) return false;
  static PyObject* const field = PyUnicode_InternFromString("_local_tensor");
  const auto local = py::reinterpret_steal<py::object>(PyObject_GetAttr(value, field));
  if (local) collect(local.ptr(), all);
  else PyErr_Clear();
  return bool(local);
}

bool is_plain(PyObject* value) {
  return value == Py_None || PyBool_Check(value) || PyLong_Check(value) || PyFloat_Check(value) ||
         PyUnicode_Check(value);
}

void collect_tensor(PyObject* value, Found& all) {
  const at::Tensor& tensor = THPVariable_Unpack(value);
  if (tensor.key_set().has(c10::DispatchKey::Python) && !THPVariable_CheckExact(value)) {
    const std::size_t before = all.tensors.size();
    if (!open_dtensor(value, all)) open(value, all);
    if (all.tensors.size() != before && all.wrappers == Wrappers::Open) return;
  }
  all.tensors.push_back(tensor);
}

void collect(PyObject* value, Found& all) {
  if (THPVariable_Check(value)) return collect_tensor(value, all);
  if (is_plain(value)) return;
  if (PyTuple_Check(value)) {
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(value); ++i)
      collect(PyTuple_GET_ITEM(value, i), all);
  } else if (PyList_Check(value)) {
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(value); ++i) collect(PyList_GET_ITEM(value, i), all);
  } else if (PyDict_Check(value)) {
    PyObject *key, *item;
    for (Py_ssize_t at = 0; PyDict_Next(value, &at, &key, &item);) collect(item, all);
  } else {
    open(value, all);
  }
}

}  // namespace

Tensors tensors_in(PyObject* value, Wrappers wrappers) {
  Found all{{}, wrappers};
  collect(value, all);
  return std::move(all.tensors);
}

void set_opener(py::object opener) {
  Py_XDECREF(g_opener);
  g_opener = opener.is_none() ? nullptr : opener.release().ptr();
}

}  // namespace tidemark::recorder
