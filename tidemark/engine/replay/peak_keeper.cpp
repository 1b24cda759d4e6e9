// Puts the live set at the peak together.
#include "tidemark/engine/replay/peak_keeper.h"

namespace tidemark {

std::vector<LiveStorage> PeakKeeper::alive_at_peak(const LiveSet& live) const {
  std::vector<LiveStorage> alive = changed_;
  live.for_each([&](const LiveStorage& one) {
    if (one.state.device() == device_ && one.changed_event <= last_event_) alive.push_back(one);
  });
  return alive;
}

}  // namespace tidemark
