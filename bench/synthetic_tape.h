// A made-up run of any length: what the tape benchmarks work on.
#pragma once

#include <cstddef>
#include <vector>

#include "tidemark/engine/tape/builder.h"

namespace tidemark::bench {

struct SyntheticShape {
  std::size_t events = 10'000'000;
  std::uint32_t scopes = 1'000;
  std::uint32_t categories = 12;
  std::uint32_t live_storages = 100'000;
};

// What to call on a builder, decided before the clock starts.
struct Action {
  Kind kind;
  std::uint8_t category;
  std::uint32_t subject;  // a storage in order of birth, or a scope
  std::int64_t bytes;
};

std::vector<Action> plan_run(const SyntheticShape& shape);
Tape build_run(const SyntheticShape& shape, const std::vector<Action>& actions);

}  // namespace tidemark::bench
