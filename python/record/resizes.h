// A method for UntypedStorage.resize_: it tells what it does.
#pragma once

#include <pybind11/pybind11.h>

namespace tidemark::recorder {

void bind_resizes(pybind11::module_& m);

}  // namespace tidemark::recorder
