// Cuts segments, and finds the one that answers.
#include "tidemark/engine/replay/segment_peaks.h"

#include <algorithm>

namespace tidemark {

// The row has already changed: undo the change on the copy.
void SegmentPeaks::copy_before(StorageState before, StorageState after, const Device& device,
                               const LedgerRow& row) {
  high_.row = row;
  if (after.alive()) remove_from(high_.row, after, device);
  if (before.alive()) add_to(high_.row, before, device);
  is_copied_ = true;
}

void SegmentPeaks::settle(const LedgerRow& row) {
  if (!is_copied_) high_.row = row;
  is_copied_ = true;
}

void SegmentPeaks::cut(std::int64_t event, const LedgerRow& row) {
  settle(row);
  if (highest_ != INT64_MAX) {
    while (!finished_.empty() && finished_.back().high.row.allocated <= highest_)
      finished_.pop_back();
    finished_.push_back({begin_, high_});
  }
  begin_ = event;
  highest_ = row.allocated;
  high_.event = event;
  is_copied_ = false;
}

const SegmentPeaks::High& SegmentPeaks::highest_since(std::int64_t begin, const LedgerRow& row) {
  settle(row);
  auto first = std::lower_bound(finished_.begin(), finished_.end(), begin,
                                [](const Finished& f, std::int64_t b) { return f.begin < b; });
  if (first == finished_.end() || first->high.row.allocated < highest_) return high_;
  return first->high;
}

}  // namespace tidemark
