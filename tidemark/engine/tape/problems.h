// The words for what can be wrong with a tape's events: one catalogue for verify and replay.
#pragma once

#include <cstddef>

#include "tidemark/engine/base/diagnostics.h"
#include "tidemark/engine/tape/storage_states.h"

namespace tidemark {

enum class TapeProblem : std::uint8_t {
  DoubleFree,
  FreeUnknown,
  AllocTwice,
  DeadOrUnknown,
  NegativeSize,
  ScopeEndedTwice,
  ScopeLeftOpen,
  TimeRunsBack,
  TotalOverflows,
  WrongFreeSize,
  CallNotOpen,
  CallLeftOpen,
  SegmentMappedTwice,
  SegmentNotMapped,
  WrongUnmapSize,
  PoolNotInUse,
};
inline constexpr std::size_t kTapeProblemCount = 16;

// Counts the problem, with the event as its first place.
void diagnose(Diagnostics& diagnostics, TapeProblem problem, std::size_t event,
              std::int64_t count = 1);

// The tape's problem for a storage's; not for None.
TapeProblem tape_problem(StorageProblem problem);

}  // namespace tidemark
