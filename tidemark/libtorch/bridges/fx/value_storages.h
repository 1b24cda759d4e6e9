// The storages in a node's value: those of its fake tensors, however they are nested.
#pragma once

#include <c10/core/Device.h>
#include <torch/csrc/python_headers.h>

#include <vector>

namespace c10 {
struct StorageImpl;
}

namespace tidemark::fx {

struct ValueStorage {
  c10::StorageImpl* storage = nullptr;
  c10::Device device{c10::DeviceType::CPU};
  PyObject* tensor = nullptr;  // borrowed: one of the tensors on it
};

enum class Sparse {
  Refuse,   // as PyTorch's estimator: the error that asking for the storage raises
  ByParts,  // indices and values, each with its own storage
};

// By type alone: isinstance would ask Python.
bool is_fake_tensor(PyObject* object);

// Appends them in the order of the leaves, repetitions included. Leaves that are no fake tensors
// have none. Throws py::error_already_set.
void find_storages(PyObject* value, Sparse sparse, std::vector<ValueStorage>& found);

}  // namespace tidemark::fx
