// One device's highest moment so far, and everything that was alive then.
//
// The live set at the peak is not copied at each new peak: it is today's live set, less what was
// born since, plus what has died or changed since. Each event adds at most one such change, and
// a new peak forgets them: O(1) amortised.
#pragma once

#include <vector>

#include "tidemark/engine/replay/live_set.h"

namespace tidemark {

class PeakKeeper {
 public:
  explicit PeakKeeper(DeviceId device) : device_(device) {}

  // Adds an event after the ledger has and before the live set does. Only while `counts` may a
  // new peak be set; of equal moments the first is the peak.
  void add(const Event& e, const StorageChange& change, const Ledger& ledger, const LiveSet& live,
           bool counts = true);

  DeviceId device() const { return device_; }
  // False as long as the device was empty at every moment that counts.
  bool found() const { return at_.event >= 0; }
  const Moment& at() const { return at_; }
  const Event& event() const { return event_; }
  const LedgerRow& row() const { return row_; }
  // What was alive at the peak, as it was then; in no particular order.
  std::vector<LiveStorage> alive_at_peak(const LiveSet& live) const;

 private:
  void remember(const LiveStorage* old);

  DeviceId device_;
  Moment at_;
  Event event_;
  LedgerRow row_;
  std::vector<LiveStorage> changed_;  // since the peak, each once, as it was at the peak
};

}  // namespace tidemark
