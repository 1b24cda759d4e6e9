// The catalogue: each property is a name and a check of one random tape.
#pragma once

#include <cstdint>
#include <vector>

#include "tests/property/check.h"
#include "tests/property/random_tape.h"
#include "tests/property/slow_run.h"

namespace tidemark::test {

// A random tape, its slow replay, and more chance for choices of options.
struct Sample {
  explicit Sample(std::uint64_t s) : seed(s), tape(random_tape(s)), slow(tape) {}
  // The same choices in every run of a property, whatever ran before it.
  Random choices() const { return Random(seed ^ 0x5bd1e995); }

  std::uint64_t seed;
  Tape tape;
  SlowRun slow;
};

struct Property {
  const char* name;
  void (*check)(const Sample& sample);  // throws Failure
};

std::vector<Property> tape_properties();
std::vector<Property> replay_properties();
std::vector<Property> walk_properties();
std::vector<Property> peak_properties();
std::vector<Property> timeline_properties();
std::vector<Property> scopes_properties();
std::vector<Property> lifetimes_properties();
std::vector<Property> diff_properties();
std::vector<Property> live_properties();
std::vector<Property> dataflow_properties();
std::vector<Property> graph_properties();
std::vector<Property> allocator_properties();

}  // namespace tidemark::test
