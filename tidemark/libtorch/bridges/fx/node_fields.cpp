// Offsets from the descriptors of the node's type.
#include "tidemark/libtorch/bridges/fx/node_fields.h"

#include <pybind11/pybind11.h>
#include <structmember.h>

#include "tidemark/libtorch/bridges/fx/lasting.h"

namespace tidemark::fx {
namespace py = pybind11;

NodeField::NodeField(PyObject* node_type, const char* name)
    : name_(PyUnicode_InternFromString(name)) {
  const auto described = py::reinterpret_steal<py::object>(PyObject_GetAttr(node_type, name_));
  if (!described) throw py::error_already_set();
  if (!Py_IS_TYPE(described.ptr(), &PyMemberDescr_Type)) return;
  const PyMemberDef* member = reinterpret_cast<PyMemberDescrObject*>(described.ptr())->d_member;
  if (member->type == T_OBJECT || member->type == T_OBJECT_EX) offset_ = member->offset;
}

PyObject* NodeField::slow(PyObject* node) const {
  PyObject* value = PyObject_GetAttr(node, name_);
  Py_XDECREF(value);  // the node holds it
  return value;
}

namespace {

PyObject* node_type() {
  static PyObject* type = lasting("torch.fx", "Node");
  return type;
}

}  // namespace

const NodeFields& NodeFields::get() {
  static const NodeFields fields{{node_type(), "op"},     {node_type(), "name"},
                                 {node_type(), "meta"},   {node_type(), "_input_nodes"},
                                 {node_type(), "target"}, {node_type(), "_args"}};
  return fields;
}

bool NodeFields::is_node(PyObject* object) {
  return PyObject_TypeCheck(object, reinterpret_cast<PyTypeObject*>(node_type()));
}

}  // namespace tidemark::fx
