// PyTorch's global tables of hooks, changed only while nobody walks over them.
#pragma once

#include <pybind11/pybind11.h>

namespace tidemark::recorder {

void bind_hook_tables(pybind11::module_& m);

}  // namespace tidemark::recorder
