// The words for verdicts, evidence and ends of runs: the same in text and JSON.
#include "tidemark/engine/answers/verdict.h"

#include <array>

namespace tidemark {
namespace {

constexpr std::array<std::string_view, kVerdictCount> kVerdicts = {"fits", "tight", "does not fit",
                                                                   "cannot tell"};
constexpr std::array<std::string_view, kEvidenceCount> kEvidence = {"measured", "modelled",
                                                                    "assumed"};
constexpr std::array<std::string_view, kRunEndCount> kEnds = {
    "unknown", "script", "steps", "error", "interrupted", "out-of-memory"};

}  // namespace

std::string_view name_of(Verdict verdict) { return kVerdicts[static_cast<std::size_t>(verdict)]; }
std::string_view name_of(Evidence evidence) {
  return kEvidence[static_cast<std::size_t>(evidence)];
}
std::string_view name_of(RunEnd end) { return kEnds[static_cast<std::size_t>(end)]; }

}  // namespace tidemark
