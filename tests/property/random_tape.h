// Random tapes: everything a source may write, regular and not, from one seed.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <random>

#include "tidemark/engine/tape/builder.h"

namespace tidemark::test {

class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}
  // 0 to below `limit`; the same on every platform, unlike the standard distributions.
  std::uint64_t below(std::uint64_t limit) { return limit == 0 ? 0 : engine_() % limit; }
  bool chance(double probability) { return below(1'000'000) < probability * 1e6; }
  template <class Values>
  auto& pick(Values& values) {
    return values[below(values.size())];
  }

 private:
  std::mt19937_64 engine_;
};

// Most tapes are small, so that many are tried; one in so many is large.
inline constexpr std::size_t kMostEvents = 200, kMostEventsOfLarge = 2000;
inline constexpr std::uint64_t kOneLargeIn = 200;
constexpr bool is_large(std::uint64_t seed) { return seed % kOneLargeIn == 0; }

// Writes the tape of this seed into a builder, up to `limit` events, telling `after` of each.
// The same seed and a lower limit give a prefix.
void write_random_tape(
    TapeBuilder& builder, std::uint64_t seed, const std::function<void()>& after = [] {},
    std::size_t limit = std::numeric_limits<std::size_t>::max());

Tape random_tape(std::uint64_t seed, std::size_t limit = std::numeric_limits<std::size_t>::max());

}  // namespace tidemark::test
