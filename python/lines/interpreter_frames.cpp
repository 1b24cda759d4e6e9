// The one file that knows the interpreter's structs.
#define Py_BUILD_CORE 1
#include "python/lines/interpreter_frames.h"

#if TIDEMARK_KNOWS_FRAMES
#include <internal/pycore_frame.h>

namespace tidemark::python {
namespace {

_PyInterpreterFrame* first_complete(_PyInterpreterFrame* frame) {
  // Those that are just being made, and those that stand for a call from C.
  while (frame && _PyFrame_IsIncomplete(frame)) frame = frame->previous;
  return frame;
}

}  // namespace

InterpreterFrames::InterpreterFrames() : InterpreterFrames(*PyThreadState_Get()) {}

InterpreterFrames::InterpreterFrames(const PyThreadState& thread)
    : frame_(first_complete(innermost_frame(thread))) {}

void InterpreterFrames::go_out() { frame_ = first_complete(frame_->previous); }

PyCodeObject* InterpreterFrames::code() const {
#if PY_VERSION_HEX >= 0x030D0000
  return _PyFrame_GetCode(frame_);
#else
  return frame_->f_code;
#endif
}

int InterpreterFrames::instruction() const {
  return _PyInterpreterFrame_LASTI(frame_) * static_cast<int>(sizeof(_Py_CODEUNIT));
}

}  // namespace tidemark::python
#endif
