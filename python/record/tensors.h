// The tensors inside Python's arguments and results.
#pragma once

#include <pybind11/pybind11.h>

#include <ATen/core/Tensor.h>
#include <c10/util/SmallVector.h>

namespace tidemark::recorder {

// Most calls take and return few.
using Tensors = c10::SmallVector<at::Tensor, 4>;

// Storages are those of the tensors inside a wrapper; gradients arrive at the wrapper itself.
enum class Wrappers { Open, OpenAndKeep };

// Every tensor in tuples, lists, dicts and whatever else PyTorch takes apart (its pytrees), with
// what wrappers of tensors wrap in their place or beside them.
Tensors tensors_in(PyObject* value, Wrappers wrappers = Wrappers::Open);

// Called for objects that C++ does not know: returns a list of what is inside, or None.
void set_opener(pybind11::object opener);

}  // namespace tidemark::recorder
