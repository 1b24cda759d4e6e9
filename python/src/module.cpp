// The extension module tidemark._engine: calls every binding file, types before their users.
#include "python/src/bindings.h"

#include "tidemark/readers/codec.h"

namespace tidemark::python {

PYBIND11_MODULE(_engine, module) {
  module.doc() = "The engine of Tidemark: tapes, analyses and reports.";
  module.attr("__version__") = TIDEMARK_VERSION;
  module.attr("can_compress") = find_codec() != nullptr;

  bind_errors(module);
  bind_words(module);
  bind_diagnostics(module);
  bind_tables(module);
  TapeClass tape(module, "Tape", "A finished run: events in columns. Immutable.");
  bind_columns(module, tape);
  bind_tape(module, tape);
  bind_builder(module);
  bind_answer_parts(module);
#define TIDEMARK_BIND(name) bind_##name(module, tape);
  TIDEMARK_ANALYSIS_BINDINGS(TIDEMARK_BIND)
#undef TIDEMARK_BIND
  bind_graph(module);
  bind_optimizer_states(module);
}

}  // namespace tidemark::python
