// The list of binding files, and the classes that more than one of them adds to.
#pragma once

#include <pybind11/pybind11.h>

#include <memory>

#include "tidemark/engine/tape/tape.h"

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
void bind_peak(py::module_& module, TapeClass& tape);
void bind_scopes(py::module_& module, TapeClass& tape);
void bind_timeline(py::module_& module, TapeClass& tape);
void bind_lifetimes(py::module_& module, TapeClass& tape);
void bind_leaks(py::module_& module, TapeClass& tape);
void bind_diff(py::module_& module, TapeClass& tape);
void bind_verdict(py::module_& module, TapeClass& tape);
void bind_overview(py::module_& module, TapeClass& tape);
void bind_graph(py::module_& module);

}  // namespace tidemark::python
