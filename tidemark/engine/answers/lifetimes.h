// Who lives how long, as groups and single lives.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "tidemark/engine/answers/parts.h"
#include "tidemark/engine/base/diagnostics.h"

namespace tidemark {

// How far a life reaches.
enum class LifeSpan : std::uint8_t {
  WithinPhase,  // born and dead in one phase of one step
  WithinStep,   // born in one phase, dead in another (activations kept for the backward)
  AcrossSteps,  // dead in a later step
  ToTheEnd,     // never freed
};
inline constexpr std::size_t kLifeSpanCount = 4;
std::string_view name_of(LifeSpan span);

struct Lifetime {
  StorageFact storage;  // as it was at its largest
  std::optional<When> died;
  std::int64_t events = 0, time_ns = 0;  // how long it lived
  LifeSpan span = LifeSpan::ToTheEnd;
  bool operator==(const Lifetime&) const = default;
};

struct LifetimeGroup {
  Category category = Category::Unknown;  // the last one
  LifeSpan span = LifeSpan::ToTheEnd;
  std::int64_t count = 0, allocated_bytes = 0, largest_bytes = 0;
  std::int64_t mean_events = 0;
  bool operator==(const LifetimeGroup&) const = default;
};

struct LifetimesAnswer {
  std::int64_t storages = 0;
  std::vector<LifetimeGroup> groups;  // most bytes first
  std::vector<Lifetime> heaviest;     // most bytes times events first
  Diagnostics diagnostics;
  bool operator==(const LifetimesAnswer&) const = default;
};

}  // namespace tidemark
