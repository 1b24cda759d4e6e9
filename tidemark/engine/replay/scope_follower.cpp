// The problems of scopes: ends without a begin, begins without an end.
#include "tidemark/engine/replay/scope_follower.h"

#include "tidemark/engine/tape/problems.h"

namespace tidemark {

void ScopeFollower::note_unknown_end(std::int64_t event) {
  diagnose(diagnostics_, TapeProblem::ScopeEndedTwice, static_cast<std::size_t>(event));
}

// The first of all stands in the diagnostic.
Diagnostics ScopeFollower::final_diagnostics() const {
  Diagnostics all = diagnostics_;
  for (auto call = open_.oldest(); call != OpenCalls::kNone; call = open_.newer(call))
    diagnose(all, TapeProblem::ScopeLeftOpen, static_cast<std::size_t>(open_[call].begin));
  return all;
}

}  // namespace tidemark
