// Tells traces by their first bytes.
#include "tidemark/readers/kineto/profiler_trace.h"

#include "tidemark/engine/base/error.h"
#include "tidemark/readers/gzip/opened_document.h"
#include "tidemark/readers/unread/first_bytes.h"
#ifdef TIDEMARK_HAS_TRACES
#include "tidemark/readers/chakra/execution_reader.h"
#include "tidemark/readers/chakra/execution_trace.h"
#include "tidemark/readers/join/joined_labels.h"
#include "tidemark/readers/kineto/time_walk.h"
#include "tidemark/readers/kineto/trace_reader.h"
#include "tidemark/readers/naming.h"
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
chakra::ExecutionNodes read_companion(const InputOptions& options,
                                      kineto::TraceContents& contents) {
  const Candidate file(options.companion);
  if (!is_execution_trace(file))
    throw Error(ErrorCode::BadArgument, "this is no execution trace", options.companion,
                "ExecutionTraceObserver writes one");
  OpenedDocument document(file, options.progress);
  Diagnostics found;
  chakra::ExecutionNodes nodes = chakra::read_nodes(document.source(), options.salvage, found);
  for (const Diagnostic& d : found.all())
    contents.builder.diagnose(d.code, d.severity, d.where, d.message, d.count);
  return nodes;
}

Tape read_profiler_trace(const Candidate& file, const InputOptions& options) {
  OpenedDocument document(file, options.progress);
  if (options.companion.empty()) return kineto::read_trace(document.source(), options.salvage);
  kineto::TraceContents contents = kineto::read_contents(document.source(), options.salvage);
  kineto::sort_by_time(contents);
  const kineto::StorageLabels labels = naming(options.companion, [&] {
    return join::find_joined_labels(contents, read_companion(options, contents));
  });
  return kineto::tape_of_trace(std::move(contents), labels);
}
#endif

}  // namespace

#ifdef TIDEMARK_HAS_TRACES
const Reader kProfilerTrace = {"a trace of PyTorch's profiler", &is_trace, &read_profiler_trace};
#else
const Reader kProfilerTrace = {"a trace of PyTorch's profiler, which this build cannot read",
                               &is_trace, nullptr, "build tidemark where simdjson is"};
#endif

}  // namespace tidemark
