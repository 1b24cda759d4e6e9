// Who lives how long: each storage from birth to death.
#pragma once

#include <unordered_map>

#include "tidemark/engine/analyses/feed.h"
#include "tidemark/engine/analyses/life_ranking.h"
#include "tidemark/engine/analyses/selection.h"
#include "tidemark/engine/answers/lifetimes.h"

namespace tidemark {

struct LifetimesOptions : Selection {  // a step selects what is born in it
  std::size_t top = 10;
};

class LifetimesObserver {
 public:
  static constexpr Needs kNeeds = {.live = true};
  explicit LifetimesObserver(LifetimesOptions options = {})
      : options_(std::move(options)), dead_(options_.top) {}

  void see(const Event& e, const Change& change, const Replay& replay);
  LifetimesAnswer answer(const Replay& replay) const;

 private:
  // The stretch of events without a change of phase. Recomputing happens inside the backward.
  struct PhaseStretch {
    Phase phase = Phase::Other;
    std::int64_t begin = 0;
  };
  void follow_phase(Phase next, std::int64_t event);
  void note_size(StorageId storage, const Change& change);
  bool is_in(const LiveStorage& one, const Tables& tables) const;
  Life life_of(const LiveStorage& one, const Moment& now) const;
  void end_life(const Event& e, const Replay& replay);

  LifetimesOptions options_;
  PhaseStretch stretch_;
  // Storages that have shrunk, as they were at their largest; all others are so now.
  std::unordered_map<StorageId, ChargedState> largest_;
  LifeRanking dead_;
};
using LifetimesAccumulator = Accumulator<LifetimesObserver>;

LifetimesAnswer find_lifetimes(const Tape& tape, const LifetimesOptions& options = {});

}  // namespace tidemark
