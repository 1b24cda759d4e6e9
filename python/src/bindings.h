// The list of binding files, and the classes that more than one of them adds to.
#pragma once

#include <pybind11/pybind11.h>

#include <memory>

#include "tidemark/engine/tape/tape.h"

// X(name) once for each analysis, types before their users; bind_name is in the file of its name.
#define TIDEMARK_ANALYSIS_BINDINGS(X) \
  X(alloc)                            \
  X(peak)                             \
  X(scopes)                           \
  X(timeline)                         \
  X(lifetimes)                        \
  X(leaks)                            \
  X(diff)                             \
  X(ranks)                            \
  X(verdict)                          \
  X(overview)

namespace tidemark::python {

namespace py = pybind11;

// Shared, because views of the columns keep their tape alive.
using TapeClass = py::class_<Tape, std::shared_ptr<Tape>>;

void bind_errors(py::module_& module);
void bind_words(py::module_& module);
void bind_diagnostics(py::module_& module);
void bind_tables(py::module_& module);
void bind_columns(py::module_& module, TapeClass& tape);
void bind_tape(py::module_& module, TapeClass& tape);
void bind_builder(py::module_& module);
void bind_answer_parts(py::module_& module);
void bind_graph(py::module_& module);
void bind_optimizer_states(py::module_& module);

#define TIDEMARK_DECLARE_BINDING(name) void bind_##name(py::module_& module, TapeClass& tape);
TIDEMARK_ANALYSIS_BINDINGS(TIDEMARK_DECLARE_BINDING)
#undef TIDEMARK_DECLARE_BINDING

}  // namespace tidemark::python
