// Random tapes whose rows contradict their history, and that break every rule at least once.
#pragma once

#include <array>
#include <cstdint>

#include "tidemark/engine/tape/tape.h"

namespace tidemark::test {

// The rules of docs/formats/tape.md that events can break.
inline constexpr std::array kEveryProblem = {
    "double-free",          "free-unknown",       "alloc-twice",     "dead-storage",
    "negative-size",        "scope-not-open",     "scope-left-open", "time-runs-back",
    "total-overflow",       "wrong-free-size",    "call-not-open",   "call-left-open",
    "segment-mapped-twice", "segment-not-mapped", "wrong-unmap-size"};

// Any reader takes it: its ids are those of its tables. No columns of a row need fit each other.
Tape odd_tape(std::uint64_t seed);

}  // namespace tidemark::test
