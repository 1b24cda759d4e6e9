// A Python method that tells of its begin and its end, without a frame of its own.
#pragma once

#include <pybind11/pybind11.h>

#include <span>

namespace tidemark::phantom {

// Called with Python's lock held. What they throw is raised in place of the call's result, or of
// the call itself; an exception of the call's own goes first.
struct CallBorders {
  // `args`: what is handed over besides `self`, positional ones first, then the values of keywords.
  void (*before)(PyObject* self, std::span<PyObject* const> args);
  // Also when the call raises; it must leave Python's error alone.
  void (*after)(PyObject* self);
};

// Stands in for a method, calling `original` in between.
pybind11::object bordered_method(pybind11::handle original, const CallBorders& borders);

}  // namespace tidemark::phantom
