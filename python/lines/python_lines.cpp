// Walks Python's frames; what was once looked up is remembered by code object and instruction.
#include "python/lines/python_lines.h"

#include <algorithm>

namespace tidemark::python {

// A thread changes its own frames only, so it may look at the top one without Python's lock.
bool PythonLines::this_thread_runs_python() {
  const PyThreadState* thread = PyGILState_GetThisThreadState();
  if (!thread) return false;
#if PY_VERSION_HEX >= 0x030D0000
  return thread->current_frame != nullptr;
#else
  return thread->cframe->current_frame != nullptr;
#endif
}

std::string PythonLines::text_of(PyObject* text) {
  const char* utf8 = text ? PyUnicode_AsUTF8(text) : nullptr;
  if (!utf8) PyErr_Clear();
  return utf8 ? utf8 : "";
}

bool PythonLines::is_hidden_file(const std::string& file) const {
  if (file.empty() || file.front() == '<') return true;
  return std::any_of(hidden_.begin(), hidden_.end(),
                     [&](const std::string& folder) { return file.starts_with(folder); });
}

PythonLines::CodeFacts& PythonLines::facts_of(PyCodeObject* code) {
  auto [entry, is_new] = codes_.try_emplace(code);
  if (is_new) {
    Py_INCREF(code);  // its address must stay its own
    entry->second.is_hidden = is_hidden_file(text_of(code->co_filename));
  }
  return entry->second;
}

void PythonLines::reset() {
  for (auto& [code, facts] : codes_) Py_DECREF(code);
  codes_.clear();
}

}  // namespace tidemark::python
