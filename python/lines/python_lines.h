// Which line of the user's Python program is running, for virtual GPUs and for live trackers.
#pragma once

#include <Python.h>

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "python/lines/frame_objects.h"
#include "python/lines/interpreter_frames.h"
#include "python/lines/remembered_places.h"
#include "tidemark/engine/base/ids.h"

namespace tidemark::python {

#if TIDEMARK_KNOWS_FRAMES
using Frames = InterpreterFrames;
#else
using Frames = FrameObjects;
#endif

// Files under these folders are machinery, not the user's program.
class PythonLines {
 public:
  void hide(std::vector<std::string> folders) { hidden_ = std::move(folders); }

  // The innermost line outside the hidden folders, as `keep(file, line, function)` numbers it; an
  // empty id on a thread without Python code. May be called without Python's lock, but not where
  // somebody who has that lock could wait for this thread.
  template <class Keep>
  StackId find(const Keep& keep) {
    const PyThreadState* const thread = thread_with_python();
    if (!thread) return {};  // most of a backward
    if (const std::optional<StackId> line = remembered(*thread)) return *line;
    const PythonLock lock;  // PyTorch lets go of it inside operators
    for (Frames frame; frame; frame.go_out()) {
      CodeFacts& facts = facts_of(frame.code());
      const StackId line = facts.is_hidden ? StackId() : line_of(frame, facts, keep);
      remember({frame.code(), frame.instruction(), era_, line, facts.is_hidden});
      if (!facts.is_hidden) return line;
    }
    return {};
  }

  // Forgets what was learned, for the next run.
  void reset();

 private:
  // The facts of codes are only touched with Python's lock held.
  struct CodeFacts {
    bool is_hidden = false;
    std::unordered_map<int, StackId> lines;  // by instruction
  };
  class PythonLock {
   public:
    PythonLock() : state_(PyGILState_Ensure()) {}
    ~PythonLock() { PyGILState_Release(state_); }
    PythonLock(const PythonLock&) = delete;
    PythonLock& operator=(const PythonLock&) = delete;

   private:
    PyGILState_STATE state_;
  };

  // Null where this thread runs no Python code.
  static const PyThreadState* thread_with_python();
  // Where this thread has been before there is no need of Python's lock.
  std::optional<StackId> remembered(const PyThreadState& thread) const;
  static void remember(const RememberedPlaces::Entry& entry);
  CodeFacts& facts_of(PyCodeObject* code);
  bool is_hidden_file(const std::string& file) const;

  static std::string text_of(PyObject* text);
  template <class Keep>
  StackId line_of(const Frames& frame, CodeFacts& facts, const Keep& keep) {
    auto [entry, is_new] = facts.lines.try_emplace(frame.instruction());
    if (is_new) {
      const int line = frame.line();
      entry->second =
          keep(text_of(frame.code()->co_filename), static_cast<std::uint32_t>(line > 0 ? line : 0),
               text_of(frame.code()->co_name));
    }
    return entry->second;
  }

  std::vector<std::string> hidden_;
  std::unordered_map<PyCodeObject*, CodeFacts> codes_;
  std::atomic<std::uint32_t> era_{1};  // of the codes' addresses
};

}  // namespace tidemark::python
