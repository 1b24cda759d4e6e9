// What each module call does to memory: before, after, and the peak inside.
#pragma once

#include "tidemark/engine/analyses/feed.h"
#include "tidemark/engine/analyses/owned_bytes.h"
#include "tidemark/engine/analyses/scope_calls.h"
#include "tidemark/engine/analyses/selection.h"
#include "tidemark/engine/answers/scopes.h"
#include "tidemark/engine/replay/scope_spans.h"

namespace tidemark {

struct ScopesOptions : Selection {
  std::size_t depth = 0;  // 1: only the outermost scopes; 0: all
  bool per_call = false;  // also each single call
};

class ScopesObserver {
 public:
  static constexpr Needs kNeeds = ScopeSpans::kNeeds;
  explicit ScopesObserver(ScopesOptions options = {})
      : options_(std::move(options)), sums_(options_.step, options_.per_call) {}

  void see(const Event& e, const Change& change, const Replay& replay);
  // Scopes still open are taken as ending here, with a diagnostic.
  ScopesAnswer answer(const Replay& replay) const;

 private:
  std::vector<ScopeFacts> list(const std::vector<ScopeRecord>& records, const Tables& tables) const;
  void fill_calls(ScopeFacts& facts, const ScopeRecord& record, const Tables& tables) const;

  ScopesOptions options_;
  ScopeSpans spans_;
  ScopeCallSums sums_;
  OwnedBytes parameters_{Category::Parameter}, buffers_{Category::Buffer};
};
using ScopesAccumulator = Accumulator<ScopesObserver>;

// Throws Error(NotFound) for a device or step the tape does not have.
ScopesAnswer find_scopes(const Tape& tape, const ScopesOptions& options = {});

}  // namespace tidemark
