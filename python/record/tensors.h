// The tensors inside Python's arguments and results.
#pragma once

#include <pybind11/pybind11.h>

#include <ATen/core/Tensor.h>

#include <vector>

namespace tidemark::recorder {

// Every tensor in tuples, lists, dicts and whatever else PyTorch takes apart (its pytrees), with
// wrappers of tensors replaced by what they wrap.
std::vector<at::Tensor> tensors_in(PyObject* value);

// Called for objects that C++ does not know: returns a list of what is inside, or None.
void set_opener(pybind11::object opener);

}  // namespace tidemark::recorder
