// Walks Python's frames; what was once looked up is remembered by code object and instruction.
#include "python/phantom/source_lines.h"

#include <Python.h>

#include <unordered_map>

namespace tidemark::phantom {
namespace {

std::vector<std::string> g_hidden;

// All of this is only touched with Python's lock held.
struct CodeFacts {
  bool is_hidden = false;
  std::unordered_map<int, StackId> lines;  // by instruction
};
std::unordered_map<PyCodeObject*, CodeFacts> g_codes;

class PythonLock {
 public:
  PythonLock() : state_(PyGILState_Ensure()) {}
  ~PythonLock() { PyGILState_Release(state_); }
  PythonLock(const PythonLock&) = delete;
  PythonLock& operator=(const PythonLock&) = delete;

 private:
  PyGILState_STATE state_;
};

// A thread changes its own frames only, so it may look at the top one without Python's lock.
bool runs_python(const PyThreadState* thread) {
#if PY_VERSION_HEX >= 0x030D0000
  return thread->current_frame != nullptr;
#else
  return thread->cframe->current_frame != nullptr;
#endif
}

std::string text_of(PyObject* text) {
  const char* utf8 = text ? PyUnicode_AsUTF8(text) : nullptr;
  if (!utf8) PyErr_Clear();
  return utf8 ? utf8 : "";
}

bool is_hidden_file(const std::string& file) {
  if (file.empty() || file.front() == '<') return true;
  for (const std::string& folder : g_hidden)
    if (file.compare(0, folder.size(), folder) == 0) return true;
  return false;
}

CodeFacts& facts_of(PyCodeObject* code) {
  auto [entry, is_new] = g_codes.try_emplace(code);
  if (is_new) {
    Py_INCREF(code);  // its address must stay its own
    entry->second.is_hidden = is_hidden_file(text_of(code->co_filename));
  }
  return entry->second;
}

StackId line_of(PyFrameObject* frame, PyCodeObject* code, CodeFacts& facts, StorageLog& log) {
  auto [entry, is_new] = facts.lines.try_emplace(PyFrame_GetLasti(frame));
  if (is_new) {
    const auto line = static_cast<std::uint32_t>(std::max(PyFrame_GetLineNumber(frame), 0));
    entry->second = log.source({}, text_of(code->co_filename), line, text_of(code->co_name));
  }
  return entry->second;
}

}  // namespace

void set_hidden_folders(std::vector<std::string> folders) { g_hidden = std::move(folders); }

StackId find_python_source(StorageLog& log) {
  const PyThreadState* thread = PyGILState_GetThisThreadState();
  if (!thread || !runs_python(thread)) return {};  // most of a backward
  const PythonLock lock;                           // PyTorch lets go of it inside operators
  PyFrameObject* frame = PyEval_GetFrame();
  Py_XINCREF(frame);
  StackId found;
  while (frame && !found) {
    PyCodeObject* code = PyFrame_GetCode(frame);
    CodeFacts& facts = facts_of(code);
    if (!facts.is_hidden) found = line_of(frame, code, facts, log);
    Py_DECREF(code);
    PyFrameObject* caller = PyFrame_GetBack(frame);
    Py_DECREF(frame);
    frame = caller;
  }
  Py_XDECREF(frame);
  return found;
}

void reset_source_lines() {
  for (auto& [code, facts] : g_codes) Py_DECREF(code);
  g_codes.clear();
}

}  // namespace tidemark::phantom
