// Keeps the peak and the changes since.
#include "tidemark/replay/peak_keeper.h"

namespace tidemark {

void PeakKeeper::add(const Event& e, const StorageChange& change, const Ledger& ledger,
                     const LiveSet& live, bool counts) {
  if (e.kind > Kind::Relabel) return;
  if (change.before.alive() && change.before.device == device_)
    if (const LiveStorage* old = live.find(e.storage());
        old && old->born.at.event <= at_.event)
      changed_.try_emplace(e.storage(), *old);
  const LedgerRow& row = ledger.row(device_);
  const bool rose = change.after.alive() && change.after.device == device_;
  if (!counts || !rose || (found() && row.allocated <= row_.allocated)) return;
  at_ = ledger.now();
  event_ = e;
  row_ = row;
  changed_.clear();
}

std::vector<LiveStorage> PeakKeeper::alive_at_peak(const LiveSet& live) const {
  std::vector<LiveStorage> alive;
  for (const LiveStorage& one : live.all())
    if (one.state.device == device_ && one.born.at.event <= at_.event &&
        !changed_.contains(one.storage))
      alive.push_back(one);
  for (const auto& [storage, then] : changed_)
    if (then.state.device == device_) alive.push_back(then);
  return alive;
}

}  // namespace tidemark
