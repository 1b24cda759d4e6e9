// What each module call does to memory: before, after, and the peak inside.
#pragma once

#include <memory>

#include "tidemark/engine/analyses/selection.h"
#include "tidemark/engine/answers/scopes.h"
#include "tidemark/engine/tape/tape.h"

namespace tidemark {

struct ScopesOptions : Selection {
  std::size_t depth = 0;   // 1: only the outermost scopes; 0: all
  bool per_call = false;   // also each single call
};

class ScopesAccumulator {
 public:
  explicit ScopesAccumulator(const Tables& tables, ScopesOptions options = {});
  ~ScopesAccumulator();
  ScopesAccumulator(ScopesAccumulator&&) noexcept;
  ScopesAccumulator& operator=(ScopesAccumulator&&) noexcept;

  void add(const Event& event);
  // Scopes still open are taken as ending here, with a diagnostic.
  ScopesAnswer answer() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Throws Error(NotFound) for a device or step the tape does not have.
ScopesAnswer find_scopes(const Tape& tape, const ScopesOptions& options = {});

}  // namespace tidemark
