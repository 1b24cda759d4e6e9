// The calls of every scope, summed by phase as they end.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "tidemark/engine/answers/scopes.h"
#include "tidemark/engine/replay/scope_spans.h"

namespace tidemark {

// Calls before their devices have names: only those that had bytes in some call, by number.
struct CallSum {
  struct OnDevice {
    DeviceId device;
    ScopeBytes bytes;
  };
  ScopeCalls calls;  // its own devices are empty
  std::vector<OnDevice> devices;
};

// One scope's calls.
struct ScopeRecord {
  std::array<std::int64_t, kPhaseCount> ended{};  // calls of each phase, also those not kept
  std::vector<CallSum> phases;                    // in the order they were first met
  std::vector<CallSum> calls;                     // each one, when asked for
};

class ScopeCallSums {
 public:
  ScopeCallSums(std::optional<std::int64_t> step, bool keeps_calls)
      : step_(step), keeps_calls_(keeps_calls) {}

  // Adds a call that has ended; one that began outside the chosen step is only counted, one
  // without a scope is nobody's.
  void add(const ScopeSpan& span);
  // By scope number; scopes past the end were never called.
  const std::vector<ScopeRecord>& records() const { return records_; }

 private:
  std::optional<std::int64_t> step_;
  bool keeps_calls_;
  std::vector<ScopeRecord> records_;
};

// With the devices' names, and without those that are not chosen.
ScopeCalls named(const CallSum& sum, const std::optional<std::string>& device,
                 const Tables& tables);

}  // namespace tidemark
