// One device's highest moment so far, and everything that was alive then.
//
// The live set at the peak is not copied at each new peak: it is today's live set, less what was
// born since, plus what has died or changed since. Each event adds at most one such change, and
// a new peak forgets them: O(1) amortised.
#pragma once

#include <vector>

#include "tidemark/engine/replay/replay.h"

namespace tidemark {

class PeakKeeper {
 public:
  explicit PeakKeeper(DeviceId device) : device_(device) {}

  static constexpr Needs kNeeds = {.live = true};
  // Of equal moments the first is the peak.
  void see(const Event& e, const Change& change, const Replay& replay) {
    see_if(true, e, change, replay);
  }
  // Only while `counts` may a new peak be set.
  void see_if(bool counts, const Event& e, const Change& change, const Replay& replay) {
    if (changes_storage(e.kind) && change.before.alive() && change.before.device == device_)
      remember(replay.live().find(e.storage()));
    const LedgerRow& row = replay.ledger().row(device_);
    if (!counts || row.allocated <= row_.allocated) return;
    at_ = replay.now();
    event_ = e;
    row_ = row;
    changed_.clear();
  }

  DeviceId device() const { return device_; }
  // False as long as the device was empty at every moment that counts.
  bool found() const { return at_.event >= 0; }
  const Moment& at() const { return at_; }
  const Event& event() const { return event_; }
  const LedgerRow& row() const { return row_; }
  // What was alive at the peak, as it was then; in no particular order.
  std::vector<LiveStorage> alive_at_peak(const LiveSet& live) const;

 private:
  // Only the first change since the peak: later ones start from what the storage was not at it.
  void remember(const LiveStorage* old) {
    if (old && old->changed_event <= at_.event) changed_.push_back(*old);
  }

  DeviceId device_;
  Moment at_;
  Event event_;
  LedgerRow row_;
  std::vector<LiveStorage> changed_;  // since the peak, each once, as it was at the peak
};

}  // namespace tidemark
