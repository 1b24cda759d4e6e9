// Follows the calls of PyTorch's modules, in C++.
#pragma once

#include <pybind11/pybind11.h>

namespace tidemark::phantom {

void bind_module_hooks(pybind11::module_& m);

}  // namespace tidemark::phantom
