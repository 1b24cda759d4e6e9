// The Python frames of this thread, from the innermost outwards, as the interpreter keeps them.
//
// Python makes an object of a frame for whoever asks for one, and has more to do when that frame
// ends. The interpreter's own frames cost nothing to look at, but are another struct in every
// version: where we do not know it, see frame_objects.h.
#pragma once

#include <Python.h>

#define TIDEMARK_KNOWS_FRAMES (PY_VERSION_HEX >= 0x030B0000 && PY_VERSION_HEX < 0x030E0000)

struct _PyInterpreterFrame;

namespace tidemark::python {

// Null where the thread is in no Python function.
inline _PyInterpreterFrame* innermost_frame(const PyThreadState& thread) {
#if PY_VERSION_HEX >= 0x030D0000
  return thread.current_frame;
#else
  return thread.cframe->current_frame;
#endif
}

#if TIDEMARK_KNOWS_FRAMES
// Only on the thread whose frames they are, while none of them ends.
class InterpreterFrames {
 public:
  InterpreterFrames();  // with Python's lock held
  explicit InterpreterFrames(const PyThreadState& thread);
  explicit operator bool() const { return frame_ != nullptr; }
  void go_out();

  PyCodeObject* code() const;  // borrowed
  int instruction() const;     // its offset in bytes
  int line() const { return PyCode_Addr2Line(code(), instruction()); }

 private:
  _PyInterpreterFrame* frame_;
};
#endif

}  // namespace tidemark::python
