// One walk over the nodes: their values give storages, their inputs give edges.
#include "tidemark/libtorch/bridges/fx/fx_graph.h"

#include <c10/core/StorageImpl.h>
#include <torch/csrc/Device.h>

#include "tidemark/engine/graph/builder.h"
#include "tidemark/libtorch/bridges/fx/fetch_ahead.h"
#include "tidemark/libtorch/bridges/fx/mending.h"
#include "tidemark/libtorch/bridges/fx/node_fields.h"
#include "tidemark/libtorch/bridges/fx/node_text.h"
#include "tidemark/libtorch/bridges/fx/storage_sizes.h"
#include "tidemark/libtorch/bridges/fx/value_storages.h"

namespace tidemark::fx {
namespace {

[[noreturn]] void raise_key_error(PyObject* key) {
  PyErr_SetObject(PyExc_KeyError, key);
  throw py::error_already_set();
}

NodeKind kind_of(PyObject* op) {
  static PyObject* const kCallFunction = PyUnicode_InternFromString("call_function");
  if (op == kCallFunction) return NodeKind::Compute;  // nearly all, and nearly always interned
  if (PyUnicode_CompareWithASCIIString(op, "placeholder") == 0) return NodeKind::Input;
  if (PyUnicode_CompareWithASCIIString(op, "get_attr") == 0) return NodeKind::Constant;
  if (PyUnicode_CompareWithASCIIString(op, "output") == 0) return NodeKind::Output;
  return NodeKind::Compute;
}

std::uint32_t tag_of(c10::Device device) {
  return static_cast<std::uint32_t>(static_cast<std::uint8_t>(device.type())) << 8 |
         static_cast<std::uint8_t>(device.index());
}

// Where tracing leaves a node's value.
PyObject* val_key() {
  static PyObject* const key = PyUnicode_InternFromString("val");
  return key;
}

class Reader {
 public:
  Reader(const py::list& nodes, const ReadOptions& options)
      : fields_(NodeFields::get()),
        options_(options),
        sizes_(options, builder_),
        mending_(builder_),
        texts_(options, builder_),
        known_storages_(nodes.size()) {
    done_.index = PointerMap(nodes.size());
    builder_.reserve(nodes.size());
    done_.nodes.reserve(nodes.size());
    done_.tensors.reserve(nodes.size());
    done_.storages.reserve(nodes.size());
    done_.counts.reserve(nodes.size());
  }

  void add(PyObject* node) {
    if (!NodeFields::is_node(node)) throw py::type_error("the list must have fx.Nodes alone");
    const NodeKind kind = kind_of(fields_.op.of(node));
    find_outputs(node);
    find_inputs(node);
    if (options_.mended) mending_.mend(node, kind, inputs_, outputs_);
    const NodeId id = builder_.add_node(kind, inputs_, outputs_);
    if (options_.mended) mending_.note_traits(node, id);
    if (options_.text) texts_.add(node, id, kind);
    done_.index.set(node, id.value);
    done_.nodes.push_back(py::reinterpret_borrow<py::object>(node));
  }

  FxGraph finish() {
    if (options_.text) texts_.finish();
    done_.graph = std::make_shared<Graph>(builder_.finish());
    return std::move(done_);
  }

 private:
  void find_outputs(PyObject* node) {
    values_.clear(), outputs_.clear();
    PyObject* value = value_in(fields_.meta.of(node), val_key());
    if (!value || value == Py_None) return;
    find_storages(value, options_.mended ? Sparse::ByParts : Sparse::Refuse, values_);
    for (const ValueStorage& found : values_) outputs_.push_back(storage_of(found));
  }

  static PyObject* value_in(PyObject* meta, PyObject* key) {
    if (!meta || !PyDict_Check(meta)) throw py::type_error("a node's meta is no dict");
    PyObject* value = PyDict_GetItemWithError(meta, key);
    if (!value && PyErr_Occurred()) throw py::error_already_set();
    return value;
  }

  StorageId storage_of(const ValueStorage& found) {
    const auto next = static_cast<std::uint32_t>(done_.tensors.size());
    const std::uint32_t known = known_storages_.add(found.storage, tag_of(found.device), next);
    if (known != next) return StorageId(known);
    done_.counts.push_back(sizes_.add_storage(found));
    done_.tensors.push_back(py::reinterpret_borrow<py::object>(found.tensor));
    done_.storages.push_back(found.storage);
    return StorageId(next);
  }

  void find_inputs(PyObject* node) {
    inputs_.clear();
    PyObject *input, *nothing;
    Py_ssize_t at = 0;
    while (PyDict_Next(fields_.inputs.of(node), &at, &input, &nothing)) {
      const std::uint32_t id = done_.index.find(input);
      if (id == PointerMap::kNone) raise_key_error(input);
      inputs_.emplace_back(id);
    }
  }

  const NodeFields& fields_;
  const ReadOptions& options_;
  GraphBuilder builder_;
  StorageSizes sizes_;
  Mending mending_;
  NodeTexts texts_;
  PointerMap known_storages_;
  FxGraph done_;
  std::vector<ValueStorage> values_;
  std::vector<StorageId> outputs_;
  std::vector<NodeId> inputs_;
};

}  // namespace

NodeId FxGraph::at(py::handle node) const {
  const std::uint32_t id = index.find(node.ptr());
  if (id == PointerMap::kNone) raise_key_error(node.ptr());
  return NodeId(id);
}

FxGraph read_nodes(const py::list& nodes, const ReadOptions& options) {
  Reader reader(nodes, options);
  const auto count = static_cast<Py_ssize_t>(nodes.size());
  FetchAhead ahead(PySequence_Fast_ITEMS(nodes.ptr()), count, val_key());
  for (Py_ssize_t i = 0; i < count; ++i) {
    // A callback may have changed the list: then nothing of it is known to be alive ahead of us.
    if (PyList_GET_SIZE(nodes.ptr()) != count) throw py::value_error("the list of nodes changed");
    ahead.step(i);
    reader.add(PyList_GET_ITEM(nodes.ptr(), i));
  }
  return reader.finish();
}

}  // namespace tidemark::fx
