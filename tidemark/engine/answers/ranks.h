// The ranks of one job side by side: whose peak is highest, and what differs.
#pragma once

#include <string>
#include <vector>

#include "tidemark/engine/answers/parts.h"
#include "tidemark/engine/base/diagnostics.h"

namespace tidemark {

struct RankPeak {
  std::string name;       // of its tape: "rank0.json.gz"
  std::int64_t rank = 0;  // as the tape says; else its place among those given
  std::string device;     // the first that has bytes
  std::int64_t allocated_bytes = 0;
  When at;
  CategoryBytes categories{};
  bool operator==(const RankPeak&) const = default;
};

// One thing's bytes at the ranks' peaks: of the rank that has least of it, and most.
struct Spread {
  std::string name;
  std::int64_t least = 0, most = 0;
  std::int64_t least_rank = 0, most_rank = 0;
  bool operator==(const Spread&) const = default;
};

struct RanksAnswer {
  std::vector<RankPeak> ranks;                  // as they were given
  std::int64_t worst = -1;                      // the place of the highest peak; -1 for no ranks
  std::vector<Spread> categories, scopes, ops;  // only what differs, most first
  Diagnostics diagnostics;
  bool operator==(const RanksAnswer&) const = default;
};

}  // namespace tidemark
