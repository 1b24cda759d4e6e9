// One device's highest moment since any open call began, at one comparison an event.
//
// Time is cut into segments where calls begin. A segment keeps its highest moment; of the
// finished segments only those survive that no later one overtops, so they fall from old to new:
//
//   total    |  9
//            |        7              since a:  9   (segment a)
//            |              4   5    since b:  7   (segment b)
//            +--a-----b-----c----->  since c:  5   (the segment still growing; 4 is forgotten)
//
// An event costs one comparison, a question is a binary search. A begin costs nothing: the cut
// waits for the first change after it, so a device that does not change costs nothing either. The
// state at a high moment is copied only when the total falls again, so a long rise costs no copies.
// Of equal moments the first is the highest. Equal segments pile up while calls overlap; those that
// no open call can ask about are swept out when there are twice as many as calls.
#pragma once

#include <cstdint>
#include <vector>

#include "tidemark/engine/replay/ledger.h"
#include "tidemark/engine/tape/open_calls.h"

namespace tidemark {

class SegmentPeaks {
 public:
  // A moment and the state at it, good until the next change of the device.
  struct High {
    std::int64_t event = 0;
    const LedgerRow* row = nullptr;
  };

  // A storage of this device changed while calls are open; `row` is the device's state after it.
  void note(std::int64_t event, const Change& change, DeviceId device, const LedgerRow& row,
            const OpenCalls& open) {
    if (begin_ < open[open.newest()].begin) cut(open, row_before(change, device, row));
    if (row.allocated > highest_) {
      highest_ = row.allocated;
      high_event_ = event;
      is_copied_ = false;
    } else if (!is_copied_) {
      high_row_ = row_before(change, device, row);
      is_copied_ = true;
    }
  }

  // True when the device changed since an open call began.
  bool has_changed_since(std::int64_t begin) const { return begin_ >= begin; }
  // The highest moment since an open call that began at `begin`; `row` is the state now.
  High highest_since(std::int64_t begin, const LedgerRow& row) const;
  // Segments kept besides the growing one.
  std::size_t size() const { return finished_.size(); }

 private:
  void cut(const OpenCalls& open, const LedgerRow& row);
  void sweep(const OpenCalls& open);

  struct Finished {
    std::int64_t begin, high_event;
    LedgerRow high_row;
  };
  std::vector<Finished> finished_;
  std::int64_t begin_ = -1;  // of the growing segment; -1 before the first
  std::int64_t highest_ = 0, high_event_ = 0;
  LedgerRow high_row_;  // once the total has fallen again
  bool is_copied_ = false;
};

}  // namespace tidemark
