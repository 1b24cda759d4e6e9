// Tensors, tuples and lists directly; every other container through torch's pytree.
#include "tidemark/libtorch/bridges/fx/value_storages.h"

#include <ATen/SparseCsrTensorImpl.h>
#include <ATen/SparseCsrTensorUtils.h>
#include <ATen/SparseTensorImpl.h>
#include <torch/csrc/Device.h>
#include <torch/csrc/autograd/python_variable.h>

#include "tidemark/libtorch/bridges/fx/lasting.h"

namespace tidemark::fx {
namespace {

// What is looked up in torch once, for as long as the process lives.
struct Known {
  PyObject* fake_tensor = lasting("torch._subclasses.fake_tensor", "FakeTensor");
  PyObject* tree_leaves = lasting("torch.utils._pytree", "tree_leaves");
  PyObject* sym_int = lasting("torch", "SymInt");
  PyObject* fake_device = PyUnicode_InternFromString("_fake_device");
  PyObject* device = PyUnicode_InternFromString("device");
};

const Known& known() {
  static const Known all;
  return all;
}

// Of values that are no container: they need no walk.
bool is_plain(PyObject* object) {
  return object == Py_None || PyLong_Check(object) || PyFloat_Check(object) ||
         PyUnicode_Check(object) ||
         Py_IS_TYPE(object, reinterpret_cast<PyTypeObject*>(known().sym_int));
}

c10::Device device_of(PyObject* tensor) {
  auto device = py::reinterpret_steal<py::object>(PyObject_GetAttr(tensor, known().fake_device));
  if (!device || !THPDevice_Check(device.ptr())) {
    PyErr_Clear();
    device = py::reinterpret_steal<py::object>(PyObject_GetAttr(tensor, known().device));
    if (!device) throw py::error_already_set();
  }
  return reinterpret_cast<THPDevice*>(device.ptr())->device;
}

// A sparse tensor has no storage of its own, but parts that have.
std::vector<at::Tensor> parts_of(const at::Tensor& tensor) {
  if (tensor.layout() == at::kSparse) {
    auto* impl = static_cast<at::SparseTensorImpl*>(tensor.unsafeGetTensorImpl());
    return {impl->indices(), impl->values()};
  }
  if (at::sparse_csr::is_sparse_compressed(tensor.layout())) {
    auto* impl = static_cast<at::SparseCsrTensorImpl*>(tensor.unsafeGetTensorImpl());
    return {impl->compressed_indices(), impl->plain_indices(), impl->values()};
  }
  return {};
}

void add_tensor(PyObject* object, Sparse sparse, std::vector<ValueStorage>& found) {
  const at::Tensor& tensor = THPVariable_Unpack(object);
  const auto add = [&](const at::Tensor& one) {
    found.push_back({one.unsafeGetTensorImpl()->unsafe_storage().unsafeGetStorageImpl(),
                     device_of(object), object});
  };
  if (tensor.unsafeGetTensorImpl()->has_storage()) return add(tensor);
  if (sparse == Sparse::Refuse) {
    const auto asked =
        py::reinterpret_steal<py::object>(PyObject_CallMethod(object, "untyped_storage", nullptr));
    if (!asked) throw py::error_already_set();
    return;
  }
  for (const at::Tensor& part : parts_of(tensor))
    if (part.defined() && part.unsafeGetTensorImpl()->has_storage()) add(part);
}

void add_leaves(PyObject* value, Sparse sparse, std::vector<ValueStorage>& found) {
  const auto leaves =
      py::reinterpret_steal<py::object>(PyObject_CallOneArg(known().tree_leaves, value));
  if (!leaves) throw py::error_already_set();
  for (py::handle leaf : py::reinterpret_borrow<py::list>(leaves))
    if (is_fake_tensor(leaf.ptr())) add_tensor(leaf.ptr(), sparse, found);
}

}  // namespace

bool is_fake_tensor(PyObject* object) {
  return PyObject_TypeCheck(object, reinterpret_cast<PyTypeObject*>(known().fake_tensor));
}

void find_storages(PyObject* value, Sparse sparse, std::vector<ValueStorage>& found) {
  if (is_fake_tensor(value)) return add_tensor(value, sparse, found);
  if (is_plain(value)) return;
  if (PyTuple_CheckExact(value) || PyList_CheckExact(value)) {
    const Py_ssize_t count = PySequence_Fast_GET_SIZE(value);
    for (Py_ssize_t i = 0; i < count; ++i)
      find_storages(PySequence_Fast_GET_ITEM(value, i), sparse, found);
    return;
  }
  add_leaves(value, sparse, found);
}

}  // namespace tidemark::fx
