// What grows from step to step and never dies.
//
// A site (device, category, scope, operator, source line) leaks when storages born there in at
// least two finished steps after the first are still alive at the end. The first step is warm-up:
// optimizer state is born there for good reason. The last step is not finished: what it holds is
// its working set.
#pragma once

#include <optional>
#include <string>

#include "tidemark/engine/analyses/feed.h"
#include "tidemark/engine/answers/leaks.h"

namespace tidemark {

struct LeaksOptions {
  std::optional<std::string> device;
  std::size_t top = 10;
};

class LeaksObserver {
 public:
  static constexpr Needs kNeeds = {.live = true};
  explicit LeaksObserver(LeaksOptions options = {}) : options_(std::move(options)) {}

  void see(const Event& e, const Change& change, const Replay& replay);
  LeaksAnswer answer(const Replay& replay) const;

 private:
  bool is_left_behind(const LiveStorage& one, const Replay& replay) const;
  std::vector<LeakSite> sites(const Replay& replay) const;
  std::vector<StepLevel> step_levels(const Replay& replay) const;
  std::int64_t level(std::size_t step, std::size_t device) const;
  bool was_always_empty(std::size_t device) const;

  LeaksOptions options_;
  std::vector<std::vector<std::int64_t>> levels_;  // by step that has ended, by device
};
using LeaksAccumulator = Accumulator<LeaksObserver>;

LeaksAnswer find_leaks(const Tape& tape, const LeaksOptions& options = {});

}  // namespace tidemark
