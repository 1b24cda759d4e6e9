// Any bytes as a trace of the profiler, behind a line of dashes as an execution trace to join to
// it: an error, or a tape that answers. Damaged ones are salvaged, too.
#include <cstdlib>
#include <string_view>

#include "tests/fuzz/every_question.h"
#include "tidemark/engine/base/error.h"
#include "tidemark/readers/chakra/execution_reader.h"
#include "tidemark/readers/join/joined_labels.h"
#include "tidemark/readers/kineto/time_walk.h"
#include "tidemark/readers/kineto/trace_reader.h"

using namespace tidemark;

namespace {

constexpr std::string_view kBetween = "\n---\n";

Tape read(std::string_view trace, std::string_view execution, bool salvage) {
  MemorySource source(trace);
  kineto::TraceContents contents = kineto::read_contents(source, salvage);
  if (execution.empty()) return kineto::tape_of_trace(std::move(contents));
  MemorySource companion(execution);
  Diagnostics found;
  const chakra::ExecutionNodes nodes = chakra::read_nodes(companion, salvage, found);
  kineto::sort_by_time(contents);
  const kineto::StorageLabels labels = join::find_joined_labels(contents, nodes);
  return kineto::tape_of_trace(std::move(contents), labels);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::size_t cut = text.find(kBetween);
  const std::string_view execution =
      cut == text.npos ? std::string_view() : text.substr(cut + kBetween.size());
  for (bool salvage : {false, true}) {
    try {
      test::ask_every_question(read(text.substr(0, cut), execution, salvage));
    } catch (const Error& error) {
      if (error.code() == ErrorCode::Internal) std::abort();
    }
  }
  return 0;
}
