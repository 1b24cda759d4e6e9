// Codes and sentences of tape problems.
#include "tidemark/engine/tape/problems.h"

#include <array>
#include <string>

namespace tidemark {
namespace {

struct Entry {
  const char* code;
  Severity severity;
  const char* message;
};

constexpr std::array<Entry, kTapeProblemCount> kCatalogue = {{
    {"double-free", Severity::Error, "a storage is freed that was freed before; ignored"},
    {"free-unknown", Severity::Warning,
     "a storage is freed that was never allocated; ignored (a recording that began late shows "
     "this)"},
    {"alloc-twice", Severity::Error,
     "a storage is allocated while alive; the old one is taken as freed"},
    {"dead-storage", Severity::Warning,
     "a storage is resized, relabelled or used while not alive; ignored"},
    {"negative-size", Severity::Error, "a size is negative; taken as 0"},
    {"scope-not-open", Severity::Error, "a scope ends that is not open; ignored"},
    {"scope-left-open", Severity::Warning,
     "a scope never ends; its peak is the one up to the end of the tape"},
    {"time-runs-back", Severity::Warning, "an event is earlier than the one before it"},
    {"total-overflow", Severity::Error, "the live bytes pass 63 bits; totals stop there"},
    {"wrong-free-size", Severity::Error,
     "a free names another size than its storage has; the storage's is taken"},
    {"call-not-open", Severity::Error, "an operator returns that was not called; ignored"},
    {"call-left-open", Severity::Warning, "an operator never returns"},
    {"segment-mapped-twice", Severity::Error,
     "a segment is mapped that is mapped already; the old one is taken as unmapped"},
    {"segment-not-mapped", Severity::Warning,
     "a segment is unmapped that is not mapped; ignored (a recording that began late shows this)"},
    {"wrong-unmap-size", Severity::Error,
     "a segment is unmapped with another size than it was mapped with; all of it is taken as "
     "unmapped"},
    {"pool-not-in-use", Severity::Warning,
     "a pool is released that nobody uses, or emptied that never was used; ignored"},
}};

}  // namespace

void diagnose(Diagnostics& diagnostics, TapeProblem problem, std::size_t event,
              std::int64_t count) {
  const Entry& entry = kCatalogue[static_cast<std::size_t>(problem)];
  diagnostics.add(entry.code, entry.severity, "event " + std::to_string(event), entry.message,
                  count);
}

TapeProblem tape_problem(StorageProblem problem) {
  return static_cast<TapeProblem>(static_cast<std::size_t>(problem) - 1);
}

}  // namespace tidemark
