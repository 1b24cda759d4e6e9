// Tells execution traces by their first bytes.
#include "tidemark/readers/chakra/execution_trace.h"

#include "tidemark/readers/gzip/opened_document.h"
#include "tidemark/readers/unread/first_bytes.h"
#ifdef TIDEMARK_HAS_TRACES
#include "tidemark/readers/chakra/execution_reader.h"
#include "tidemark/readers/chakra/execution_tape.h"
#endif

namespace tidemark {

bool is_execution_trace(const Candidate& file) {
  const std::string text = unpacked_beginning(file);
  return first_character(text) == '{' && has_key(text, "schema") &&
         text.find("chakra") != std::string::npos;
}

#ifdef TIDEMARK_HAS_TRACES
namespace {

Tape read_execution_trace(const Candidate& file, const InputOptions& options) {
  OpenedDocument document(file, options.progress);
  Diagnostics found;
  const chakra::ExecutionNodes nodes =
      chakra::read_nodes(document.source(), options.salvage, found);
  return chakra::tape_of_nodes(nodes, found);
}

}  // namespace

const Reader kExecutionTrace = {"a PyTorch execution trace", &is_execution_trace,
                                &read_execution_trace};
#else
const Reader kExecutionTrace = {"a PyTorch execution trace, which this build cannot read",
                                &is_execution_trace, nullptr, "build tidemark where simdjson is"};
#endif

}  // namespace tidemark
