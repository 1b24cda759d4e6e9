// One device's highest moment so far, and everything that was alive then.
//
// A peak lasts until a storage of the device is born, dies or is resized. Labels that come until
// then are of the same bytes, and the peak takes them:
//
//   total  |              ______________________
//          |      _______|                      |______________
//          +-----a-------b-------relabel b-----free a-----relabel b---->
//                        the peak, and its label          too late
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
  // Of equal moments the first is the peak, and later ones do not lend it their labels.
  void see(const Event& e, const Change& change, const Replay& replay) {
    see_if(true, e, change, replay);
  }
  // Only while `counts` may a new peak be set, or take a label.
  void see_if(bool counts, const Event& e, const Change& change, const Replay& replay) {
    const LedgerRow& row = replay.ledger().row(device_);
    if (counts && row.allocated > row_.allocated) return rise(e, row, replay.now());
    if (!changes_storage(e.kind)) return;
    if (lasts_ && counts && e.kind == Kind::Relabel) return take_label(row, replay.now());
    const bool was_here = is_here(change.before);
    if (lasts_) lasts_ = !was_here && !is_here(change.after);
    if (was_here) remember(replay.live().find(e.storage()));
  }

  DeviceId device() const { return device_; }
  // False as long as the device was empty at every moment that counts.
  bool found() const { return at_.event >= 0; }
  const Moment& at() const { return at_; }
  const Event& event() const { return event_; }
  const LedgerRow& row() const { return row_; }
  // What was alive at the peak, as it was when the peak ended; in no particular order.
  std::vector<LiveStorage> alive_at_peak(const LiveSet& live) const;

 private:
  bool is_here(const ChargedState& state) const {
    return state.alive() && state.device() == device_;
  }
  void rise(const Event& e, const LedgerRow& row, const Moment& now) {
    at_ = now;
    event_ = e;
    row_ = row;
    last_event_ = now.event;
    lasts_ = true;
    changed_.clear();
  }
  void take_label(const LedgerRow& row, const Moment& now) {
    row_ = row;
    last_event_ = now.event;
  }
  // Only the first change since the peak: later ones start from what the storage was not at it.
  void remember(const LiveStorage* old) {
    if (old && old->changed_event <= last_event_) changed_.push_back(*old);
  }

  DeviceId device_;
  Moment at_;
  Event event_;
  LedgerRow row_;
  std::int64_t last_event_ = -1;      // of the peak: its last label, else its first event
  bool lasts_ = false;                // nothing was born, died or was resized since
  std::vector<LiveStorage> changed_;  // since the peak, each once, as it was at the peak
};

}  // namespace tidemark
