// Both ways to walk over Python's frames, as lists of (code, instruction, line), for ctypes.
#include "python/lines/frame_objects.h"
#include "python/lines/interpreter_frames.h"

namespace {

template <class Frames>
PyObject* walk() {
  PyObject* const all = PyList_New(0);
  for (Frames frame; frame; frame.go_out()) {
    PyObject* const one = Py_BuildValue("(Oii)", reinterpret_cast<PyObject*>(frame.code()),
                                        frame.instruction(), frame.line());
    PyList_Append(all, one);
    Py_DECREF(one);
  }
  return all;
}

}  // namespace

extern "C" PyObject* by_objects() { return walk<tidemark::python::FrameObjects>(); }

#if TIDEMARK_KNOWS_FRAMES
extern "C" PyObject* by_frames() { return walk<tidemark::python::InterpreterFrames>(); }
#endif
