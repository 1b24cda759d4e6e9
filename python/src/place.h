// Where an event happens, said in keywords: op, signature, source, scope, phase, stream.
#pragma once

#include <pybind11/pybind11.h>

#include "tidemark/engine/tape/builder.h"

namespace tidemark::python {

namespace py = pybind11;

// Throws TypeError for an unknown keyword or a value of the wrong type.
Place place_of(Tables& tables, const py::kwargs& words);

}  // namespace tidemark::python
