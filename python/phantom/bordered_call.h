// A Python method that tells of its begin and its end, without a frame of its own.
#pragma once

#include <pybind11/pybind11.h>

#include <memory>
#include <span>

namespace tidemark::phantom {

// Called with Python's lock held. What they throw is raised in place of the call's result, or of
// the call itself; an exception of the call's own goes first.
class CallBorders {
 public:
  virtual ~CallBorders() = default;
  // `args`: what is handed over besides `self`, positional ones first, then the values of keywords.
  // False: this call is of no interest, and `after` is not called.
  virtual bool before(PyObject* self, std::span<PyObject* const> args) = 0;
  // Also when the call raises; it must leave Python's error alone.
  virtual void after(PyObject* self) = 0;
};

// Stands in for a method, under its name, calling `original` in between.
pybind11::object bordered_method(pybind11::handle original, std::unique_ptr<CallBorders> borders);

}  // namespace tidemark::phantom
