// Which line of the user's Python program is running, for virtual GPUs and for live trackers.
#pragma once

#include <Python.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "tidemark/engine/base/ids.h"

namespace tidemark::python {

// Files under these folders are machinery, not the user's program.
class PythonLines {
 public:
  void hide(std::vector<std::string> folders) { hidden_ = std::move(folders); }

  // The innermost line outside the hidden folders, as `keep(file, line, function)` numbers it; an
  // empty id on a thread without Python code. May be called without Python's lock, but not where
  // somebody who has that lock could wait for this thread.
  template <class Keep>
  StackId find(const Keep& keep) {
    if (!this_thread_runs_python()) return {};  // most of a backward
    const PythonLock lock;                      // PyTorch lets go of it inside operators
    Held<PyFrameObject> frame = innermost_frame();
    while (frame.get()) {
      const Held<PyCodeObject> code(PyFrame_GetCode(frame.get()));
      CodeFacts& facts = facts_of(code.get());
      if (!facts.is_hidden) return line_of(frame.get(), code.get(), facts, keep);
      frame = Held<PyFrameObject>(PyFrame_GetBack(frame.get()));
    }
    return {};
  }

  // Forgets what was learned, for the next run.
  void reset();

 private:
  // All of this is only touched with Python's lock held.
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
  template <class T>
  class Held {
   public:
    explicit Held(T* taken) : object_(taken) {}
    ~Held() { Py_XDECREF(object_); }
    Held(const Held&) = delete;
    Held& operator=(const Held&) = delete;
    Held& operator=(Held&& other) noexcept {
      std::swap(object_, other.object_);
      return *this;
    }
    T* get() const { return object_; }

   private:
    T* object_;
  };

  static bool this_thread_runs_python();
  static Held<PyFrameObject> innermost_frame();
  CodeFacts& facts_of(PyCodeObject* code);
  bool is_hidden_file(const std::string& file) const;

  static std::string text_of(PyObject* text);
  template <class Keep>
  StackId line_of(PyFrameObject* frame, PyCodeObject* code, CodeFacts& facts, const Keep& keep) {
    auto [entry, is_new] = facts.lines.try_emplace(PyFrame_GetLasti(frame));
    if (is_new) {
      const int line = PyFrame_GetLineNumber(frame);
      entry->second = keep(text_of(code->co_filename),
                           static_cast<std::uint32_t>(line > 0 ? line : 0), text_of(code->co_name));
    }
    return entry->second;
  }

  std::vector<std::string> hidden_;
  std::unordered_map<PyCodeObject*, CodeFacts> codes_;
};

}  // namespace tidemark::python
