// What a program writes to get at values: where nobody knows these, a note says so in its own
// words.
#pragma once

#include <pybind11/pybind11.h>

namespace tidemark::phantom {

void bind_asked_methods(pybind11::module_& m);

}  // namespace tidemark::phantom
