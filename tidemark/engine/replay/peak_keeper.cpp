// Keeps the peak and the changes since.
#include "tidemark/engine/replay/peak_keeper.h"

namespace tidemark {

void PeakKeeper::add(const Event& e, const StorageChange& change, const Ledger& ledger,
                     const LiveSet& live, bool counts) {
  const bool is_change = e.kind <= Kind::Relabel;
  if (is_change && change.before.alive() && change.before.device == device_)
    remember(live.find(e.storage()));
  const LedgerRow& row = ledger.row(device_);
  if (!counts || row.allocated <= row_.allocated) return;
  at_ = ledger.now();
  event_ = e;
  row_ = row;
  changed_.clear();
}

// Only the first change since the peak: later ones start from what the storage was not at it.
void PeakKeeper::remember(const LiveStorage* old) {
  if (old && old->changed_event <= at_.event) changed_.push_back(*old);
}

std::vector<LiveStorage> PeakKeeper::alive_at_peak(const LiveSet& live) const {
  std::vector<LiveStorage> alive = changed_;
  for (const LiveStorage& one : live.all())
    if (one.state.device == device_ && one.changed_event <= at_.event) alive.push_back(one);
  return alive;
}

}  // namespace tidemark
