// Gives one analysis its faces in Python: a function, a method of Tape, and a live accumulator.
#pragma once

#include <memory>
#include <utility>

#include "python/src/bindings.h"
#include "python/src/live_builder.h"
#include "python/src/reports.h"

namespace tidemark::python {

// An analysis by its own name, and by the short one that a tape's method has.
struct AnalysisNames {
  const char* function;
  const char* method;
};

// `options` makes the engine's options from the caller's words; `extra` names those words. The
// tape is immutable, so other threads may run meanwhile.
template <class Answer, class Options, class... Words, class... Extra>
void bind_analysis(py::module_& module, TapeClass& tape, const AnalysisNames& names,
                   Answer (*find)(const Tape&, const Options&), Options (*options)(Words...),
                   const char* doc, const Extra&... extra) {
  auto answer = [find, options](const Tape& tape, Words... words) {
    return find(tape, options(std::move(words)...));
  };
  using Release = py::call_guard<py::gil_scoped_release>;
  module.def(names.function, answer, py::arg("tape"), extra..., Release(), doc);
  tape.def(names.method, answer, extra..., Release(), doc);
}

template <class Accumulator, class Options, class... Words, class... Extra>
void bind_accumulator(py::module_& module, const char* name, Options (*options)(Words...),
                      const Extra&... extra) {
  using Live = LiveAccumulator<Accumulator>;
  auto follow = [options](std::shared_ptr<LiveBuilder> builder, Words... words) {
    auto live = std::make_shared<Live>(builder, options(std::move(words)...));
    builder->watch(live);
    return live;
  };
  py::class_<Live, std::shared_ptr<Live>>(
      module, name, "Follows a builder from its first event, as long as somebody holds it.")
      .def(py::init(follow), py::arg("builder"), extra...)
      .def("answer", &Live::answer, "The answer so far; after the builder's finish, the whole.");
}

}  // namespace tidemark::python
