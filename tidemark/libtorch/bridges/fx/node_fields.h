// Reads the fields of torch.fx nodes without asking Python for each.
//
// A node's fields are members of a C struct that PyTorch describes to Python: name and offset. We
// look the offsets up once and read the pointers; should a field ever become something else, it is
// asked for as any attribute.
#pragma once

#include <torch/csrc/python_headers.h>

namespace tidemark::fx {

class NodeField {
 public:
  // `node_type` is torch.fx.Node.
  NodeField(PyObject* node_type, const char* name);

  // A borrowed reference that lives as long as the node does not change; null with a Python error
  // set where there is no such field.
  PyObject* of(PyObject* node) const {
    if (offset_ < 0) return slow(node);
    return *reinterpret_cast<PyObject**>(reinterpret_cast<char*>(node) + offset_);
  }

 private:
  PyObject* slow(PyObject* node) const;

  PyObject* name_;
  Py_ssize_t offset_ = -1;
};

struct NodeFields {
  NodeField op, name, meta, inputs, target, args;

  // Those of torch.fx.Node; the GIL must be held. Throws py::error_already_set.
  static const NodeFields& get();
  // A node of torch.fx, subclasses included: only then the fields may be read.
  static bool is_node(PyObject* object);
};

}  // namespace tidemark::fx
