// Cuts segments, and finds the one that answers.
#include "tidemark/engine/replay/segment_peaks.h"

#include <algorithm>

namespace tidemark {
namespace {

// So few are not worth a sweep.
constexpr std::size_t kFewSegments = 16;

}  // namespace

void SegmentPeaks::cut(const OpenCalls& open, const LedgerRow& row) {
  if (begin_ < open[open.oldest()].begin) {
    finished_.clear();
  } else {
    while (!finished_.empty() && finished_.back().high_row.allocated < highest_)
      finished_.pop_back();
    finished_.push_back({begin_, high_event_, is_copied_ ? high_row_ : row});
    if (finished_.size() > 2 * open.size() + kFewSegments) sweep(open);
  }
  begin_ = high_event_ = open[open.newest()].begin;
  highest_ = row.allocated;
  high_row_ = row;
  is_copied_ = true;
}

// A segment answers calls that began in it or between it and the one before.
void SegmentPeaks::sweep(const OpenCalls& open) {
  OpenCalls::Slot call = open.oldest();
  std::size_t kept = 0;
  for (const Finished& segment : finished_) {
    if (call == OpenCalls::kNone || open[call].begin > segment.begin) continue;
    while (call != OpenCalls::kNone && open[call].begin <= segment.begin) call = open.newer(call);
    finished_[kept++] = segment;
  }
  finished_.resize(kept);
}

SegmentPeaks::High SegmentPeaks::highest_since(std::int64_t begin, const LedgerRow& row) const {
  if (!has_changed_since(begin)) return {begin, &row};
  const auto first =
      std::lower_bound(finished_.begin(), finished_.end(), begin,
                       [](const Finished& segment, std::int64_t b) { return segment.begin < b; });
  const bool is_growing = first == finished_.end() || first->high_row.allocated < highest_;
  const std::int64_t segment = is_growing ? begin_ : first->begin;
  const std::int64_t event = is_growing ? high_event_ : first->high_event;
  // A segment that is highest as it begins overtops nothing: the device stood still since `begin`.
  return {event == segment ? begin : event, !is_growing  ? &first->high_row
                                            : is_copied_ ? &high_row_
                                                         : &row};
}

}  // namespace tidemark
