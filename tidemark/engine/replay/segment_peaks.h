// The highest moment since any scope began, at one comparison an event.
//
// Time is cut into segments where scopes begin. A segment keeps its highest moment; of the
// finished segments only those survive that no later one overtops, so they fall from old to new:
//
//   total    |  9
//            |        7              since a:  9   (segment a)
//            |              4   5    since b:  7   (segment b)
//            +--a-----b-----c----->  since c:  5   (the segment still growing; 4 is forgotten)
//
// An event costs one comparison, a begin pushes once and pops what it overtops, a question is a
// binary search. The state at a high moment is copied only when the total falls again, so a long
// rise costs no copies.
#pragma once

#include <cstdint>
#include <vector>

#include "tidemark/engine/replay/ledger.h"

namespace tidemark {

class SegmentPeaks {
 public:
  struct High {
    std::int64_t event = 0;
    LedgerRow row;
  };

  // A storage of this device changed; `row` is the device's state after it.
  void note(std::int64_t event, const StorageChange& change, const Device& device,
            const LedgerRow& row) {
    if (row.allocated > highest_) {
      highest_ = row.allocated;
      high_.event = event;
      is_copied_ = false;
    } else if (!is_copied_) {
      copy_before(change.before, change.after, device, row);
    }
  }

  // A scope begins at this event; the device's state is `row`.
  void cut(std::int64_t event, const LedgerRow& row);
  // The highest moment since a scope that began at `begin`; `row` is the state now.
  const High& highest_since(std::int64_t begin, const LedgerRow& row);
  // For when no scope is open.
  void clear() { finished_.clear(); }
  std::size_t size() const { return finished_.size(); }

 private:
  // By value: a change whose address is never taken stays in registers.
  void copy_before(StorageState before, StorageState after, const Device& device,
                   const LedgerRow& row);
  void settle(const LedgerRow& row);

  struct Finished {
    std::int64_t begin;
    High high;
  };
  std::vector<Finished> finished_;
  std::int64_t begin_ = 0;
  std::int64_t highest_ = INT64_MAX;  // nothing counts before the first cut
  High high_;
  bool is_copied_ = true;
};

}  // namespace tidemark
