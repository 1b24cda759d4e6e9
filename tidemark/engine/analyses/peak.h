// The highest moment of each device: how much, when, and what was alive.
#pragma once

#include "tidemark/engine/analyses/feed.h"
#include "tidemark/engine/analyses/selection.h"
#include "tidemark/engine/answers/peak.h"
#include "tidemark/engine/replay/peak_keeper.h"

namespace tidemark {

struct PeakOptions : Selection {
  std::size_t top = 10;   // how many of the largest storages, sites and source lines
  std::size_t depth = 3;  // of the tree of modules; 0: all
  // What if the caching allocator had these settings: bytes are those of its blocks.
  std::optional<std::string> allocator_settings;
};

class PeakObserver {
 public:
  static constexpr Needs kNeeds = PeakKeeper::kNeeds;
  explicit PeakObserver(PeakOptions options = {}) : options_(std::move(options)) {}

  void see(const Event& e, const Change& change, const Replay& replay) {
    while (keepers_.size() < replay.ledger().device_count()) add_device();
    const bool counts = is_chosen(options_.step, replay.now().step);
    if (e.kind == Kind::Step) [[unlikely]] {
      // A step may be at its highest as it begins.
      for (PeakKeeper& keeper : keepers_) keeper.see_if(counts, e, change, replay);
      return;
    }
    const DeviceId before = change.before.device(), after = change.after.device();
    if (before.value < keepers_.size()) keepers_[before.value].see_if(counts, e, change, replay);
    if (after != before && after.value < keepers_.size())
      keepers_[after.value].see_if(counts, e, change, replay);
  }
  PeakAnswer answer(const Replay& replay) const;

 private:
  void add_device();
  DevicePeak explain(const PeakKeeper& keeper, const Replay& replay) const;

  PeakOptions options_;
  std::vector<PeakKeeper> keepers_;  // by device
};
using PeakAccumulator = Accumulator<PeakObserver>;

// Throws Error(NotFound) for a device or step the tape does not have, Error(BadArgument) for
// settings that cannot be read.
PeakAnswer find_peak(const Tape& tape, const PeakOptions& options = {});

}  // namespace tidemark
