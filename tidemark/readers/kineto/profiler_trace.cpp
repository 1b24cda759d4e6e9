// Tells traces by their first bytes.
#include "tidemark/readers/kineto/profiler_trace.h"

#include "tidemark/engine/base/error.h"
#include "tidemark/readers/gzip/opened_document.h"
#include "tidemark/readers/unread/first_bytes.h"
#ifdef TIDEMARK_HAS_TRACES
#include "tidemark/readers/kineto/trace_reader.h"
#endif

namespace tidemark {
namespace {

bool is_trace(const Candidate& file) {
  const std::string text = unpacked_beginning(file);
  // Packed and damaged, or packed where nobody can unpack it: the name is all there is.
  if (text.empty()) return is_gzip(file.beginning()) && file.is_named(".json.gz");
  if (first_character(text) == '[') return has_key(text, "ph") && has_key(text, "ts");
  return first_character(text) == '{' &&
         (has_key(text, "traceEvents") || has_key(text, "deviceProperties"));
}

#ifdef TIDEMARK_HAS_TRACES
Tape read(const Candidate& file, const InputOptions& options) {
  OpenedDocument document(file, options.progress);
  return kineto::read_trace(document.source(), options.salvage);
}
#endif

}  // namespace

#ifdef TIDEMARK_HAS_TRACES
const Reader kProfilerTrace = {"a trace of PyTorch's profiler", &is_trace, &read};
#else
const Reader kProfilerTrace = {"a trace of PyTorch's profiler, which this build cannot read",
                               &is_trace, nullptr, "build tidemark where simdjson is"};
#endif

}  // namespace tidemark
