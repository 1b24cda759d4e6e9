// The calls of every scope, summed by phase as they end.
#pragma once

#include <array>
#include <vector>

#include "tidemark/engine/analyses/scopes.h"
#include "tidemark/engine/replay/scope_spans.h"

namespace tidemark {

// One scope's calls. Devices are by number and still without names.
struct ScopeRecord {
  std::array<std::int64_t, kPhaseCount> ended{};  // calls of each phase, also those not kept
  std::vector<ScopeCalls> phases;                 // in the order they were first met
  std::vector<ScopeCalls> calls;                  // each one, when asked for
};

class ScopeCallSums {
 public:
  explicit ScopeCallSums(const ScopesOptions& options)
      : step_(options.step), keeps_calls_(options.per_call) {}

  // Adds a call that has ended; one that began outside the chosen step is only counted.
  void add(const ScopeSpan& span);
  // By scope number; scopes past the end were never called.
  const std::vector<ScopeRecord>& records() const { return records_; }

 private:
  std::optional<std::int64_t> step_;
  bool keeps_calls_;
  std::vector<ScopeRecord> records_;
};

// With the device's names, and without the devices that had no bytes or are not chosen.
ScopeCalls named(const ScopeCalls& calls, const std::optional<std::string>& device,
                 const Tables& tables);

}  // namespace tidemark
