// Several ranks of one job: the worst, and what differs between their peaks.
#pragma once

#include <map>

#include "tidemark/engine/analyses/selection.h"
#include "tidemark/engine/answers/ranks.h"

namespace tidemark {

struct RanksOptions : Selection {
  std::size_t top = 10;  // how many modules and operators that differ
};

// Takes one rank after the other, so that their tapes need not be in memory at once.
class RanksComparison {
 public:
  explicit RanksComparison(RanksOptions options = {}) : options_(std::move(options)) {}

  // Throws Error(NotFound) for a device or step the tape does not have.
  void add(const std::string& name, const Tape& tape);
  RanksAnswer answer() const;

 private:
  using Bytes = std::vector<std::int64_t>;  // by rank
  void note(std::map<std::string, Bytes>& table, const std::string& name, std::int64_t bytes);
  std::vector<Spread> spreads(const std::map<std::string, Bytes>& table, std::size_t most) const;

  RanksOptions options_;
  std::vector<RankPeak> ranks_;
  std::map<std::string, Bytes> categories_, scopes_, ops_;
  Diagnostics diagnostics_;
};

}  // namespace tidemark
