// Modules and optimizers that the caller tells of, as they are when the run has ended.
#pragma once

#include <pybind11/pybind11.h>

#include "tidemark/engine/dataflow/recording.h"

namespace tidemark::python {

// Each owner is (name, is an optimizer, [(name, parameter, gradient or None, [(name, state)])]),
// each tensor (address of the storage, bytes of an item, sizes, strides, device). They are seen in
// an event after all others.
void add_told_owners(const pybind11::list& owners, dataflow::Recording& recording);

}  // namespace tidemark::python
