// Walks Python's frames; what was once looked up is remembered by code object and instruction.
#include "python/lines/python_lines.h"

#include <algorithm>
#include <memory>

namespace tidemark::python {
namespace {

thread_local std::unique_ptr<RememberedPlaces> t_places;

}  // namespace

// A thread changes its own frames only, so it may look at them without Python's lock.
const PyThreadState* PythonLines::thread_with_python() {
  const PyThreadState* thread = PyGILState_GetThisThreadState();
  return thread && innermost_frame(*thread) ? thread : nullptr;
}

std::optional<StackId> PythonLines::remembered(const PyThreadState& thread) const {
#if TIDEMARK_KNOWS_FRAMES
  const RememberedPlaces* const places = t_places.get();
  if (!places) return std::nullopt;
  const std::uint32_t era = era_;
  for (InterpreterFrames frame(thread); frame; frame.go_out()) {
    const auto* place = places->find(frame.code(), frame.instruction(), era);
    if (!place) return std::nullopt;
    if (!place->is_hidden) return place->line;
  }
  return StackId();
#else
  static_cast<void>(thread);
  return std::nullopt;
#endif
}

void PythonLines::remember(const RememberedPlaces::Entry& entry) {
  if (!t_places) t_places = std::make_unique<RememberedPlaces>();
  t_places->keep(entry);
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
  ++era_;
}

}  // namespace tidemark::python
