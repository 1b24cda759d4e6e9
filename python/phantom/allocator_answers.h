// What Python may ask of the virtual GPUs' caching allocators.
#pragma once

#include <pybind11/pybind11.h>

namespace tidemark::phantom {

void bind_allocator_answers(pybind11::module_& module);

}  // namespace tidemark::phantom
