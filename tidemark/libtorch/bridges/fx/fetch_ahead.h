// Brings what the next nodes are made of into the cache while the present one is read.
//
// Nodes, their dicts and their tensors lie all over memory, and each is found through the one
// before it: node -> meta -> its table -> value -> tensor. Read one after the other, a node waits
// five times. So each step is taken some nodes ahead of the next one.
#pragma once

#include <torch/csrc/autograd/python_variable.h>

#include <array>

#include "tidemark/libtorch/bridges/fx/node_fields.h"
#include "tidemark/libtorch/bridges/fx/value_storages.h"

namespace tidemark::fx {

class FetchAhead {
 public:
  FetchAhead(PyObject* const* nodes, Py_ssize_t count, PyObject* value_key)
      : nodes_(nodes), count_(count), value_key_(value_key) {}

  // Before the node at this place is read.
  void step(Py_ssize_t at) {
    if (at + 12 < count_) fetch(nodes_[at + 12], 3);
    if (at + 9 < count_) fetch_dicts(nodes_[at + 9]);
    if (at + 6 < count_) fetch_tables(nodes_[at + 6]);
    if (at + 4 < count_) fetch_value(at + 4);
    if (at + 2 < count_) fetch_tensor(at + 2);
  }

 private:
  static void fetch(const void* address, int lines) {
    for (int i = 0; i < lines; ++i) __builtin_prefetch(static_cast<const char*>(address) + 64 * i);
  }
  void fetch_dicts(PyObject* node) const {
    if (!NodeFields::is_node(node)) return;
    fetch(fields_.meta.of(node), 1);
    fetch(fields_.inputs.of(node), 1);
  }
  void fetch_tables(PyObject* node) const {
    if (!NodeFields::is_node(node)) return;
    for (PyObject* dict : {fields_.meta.of(node), fields_.inputs.of(node)})
      if (dict && PyDict_CheckExact(dict)) fetch(reinterpret_cast<PyDictObject*>(dict)->ma_keys, 3);
  }
  void fetch_value(Py_ssize_t at) {
    PyObject*& value = values_[static_cast<std::size_t>(at) % values_.size()];
    value = nullptr;
    PyObject* meta = NodeFields::is_node(nodes_[at]) ? fields_.meta.of(nodes_[at]) : nullptr;
    if (!meta || !PyDict_CheckExact(meta)) return;
    value = PyDict_GetItemWithError(meta, value_key_);
    if (value) fetch(value, 1);
    else PyErr_Clear();
  }
  void fetch_tensor(Py_ssize_t at) const {
    PyObject* value = values_[static_cast<std::size_t>(at) % values_.size()];
    if (value && is_fake_tensor(value)) fetch(THPVariable_Unpack(value).unsafeGetTensorImpl(), 4);
  }

  const NodeFields& fields_ = NodeFields::get();
  PyObject* const* nodes_;
  Py_ssize_t count_;
  PyObject* value_key_;
  std::array<PyObject*, 8> values_{};
};

}  // namespace tidemark::fx
