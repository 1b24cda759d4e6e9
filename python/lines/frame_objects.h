// The Python frames of this thread, from the innermost outwards, as objects: right in any version.
#pragma once

#include <Python.h>

namespace tidemark::python {

// Only with Python's lock held.
class FrameObjects {
 public:
  FrameObjects() : frame_(PyEval_GetFrame()) {
    Py_XINCREF(frame_);
    find_code();
  }
  ~FrameObjects() {
    Py_XDECREF(frame_);
    Py_XDECREF(code_);
  }
  FrameObjects(const FrameObjects&) = delete;
  FrameObjects& operator=(const FrameObjects&) = delete;
  explicit operator bool() const { return frame_ != nullptr; }
  void go_out() {
    PyFrameObject* const inner = frame_;
    frame_ = PyFrame_GetBack(inner);
    Py_DECREF(inner);
    find_code();
  }

  PyCodeObject* code() const { return code_; }
  int instruction() const { return PyFrame_GetLasti(frame_); }
  int line() const { return PyFrame_GetLineNumber(frame_); }

 private:
  void find_code() {
    Py_XDECREF(code_);
    code_ = frame_ ? PyFrame_GetCode(frame_) : nullptr;
  }

  PyFrameObject* frame_;
  PyCodeObject* code_ = nullptr;
};

}  // namespace tidemark::python
