// What Python may ask of CUDA's attention kernels.
#pragma once

#include <pybind11/pybind11.h>

namespace tidemark::phantom {

void bind_attention_answers(pybind11::module_& module);

}  // namespace tidemark::phantom
