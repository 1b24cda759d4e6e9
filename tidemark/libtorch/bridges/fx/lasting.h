// Objects of Python that are looked up once and kept for as long as the process lives.
#pragma once

#include <pybind11/pybind11.h>

namespace tidemark::fx {

// Never given back: at exit there may be no interpreter left to give it to.
inline PyObject* lasting(const char* module, const char* name) {
  pybind11::object found = pybind11::module_::import(module).attr(name);
  return found.release().ptr();
}

}  // namespace tidemark::fx
