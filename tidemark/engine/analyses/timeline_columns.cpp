// Opens, fills and merges columns.
#include "tidemark/engine/analyses/timeline_columns.h"

#include <algorithm>

namespace tidemark {
namespace {

// The later point joins the earlier; of equal highs the first stays.
void join(TimelinePoint& earlier, const TimelinePoint& later) {
  const std::int64_t lowest = std::min(earlier.lowest, later.lowest);
  if (later.highest > earlier.highest) earlier = later;
  earlier.lowest = lowest;
}

void merge_pairs(std::vector<TimelinePoint>& points) {
  const std::size_t half = (points.size() + 1) / 2;
  for (std::size_t i = 0; i < half; ++i) {
    points[i] = points[2 * i];
    if (2 * i + 1 < points.size()) join(points[i], points[2 * i + 1]);
  }
  points.resize(half);
}

}  // namespace

TimelinePoint point_at(const Instant& when, const LedgerRow& level) {
  return {.event = when.at.event,
          .time_ns = when.at.time_ns,
          .step = when.at.step,
          .phase = when.phase,
          .lowest = level.allocated,
          .highest = level.allocated,
          .categories = level.by_category};
}

void TimelineColumns::open_up_to(const AxisPosition& position, const Instant& held,
                                 const Change& change, const Ledger& ledger) {
  while (position.extent() / width_ >= 2 * most_) halve();
  while (nothing_.size() <= position.extent() / width_) open(position, held, change, ledger);
}

void TimelineColumns::open(const AxisPosition& position, Instant held, const Change& change,
                           const Ledger& ledger) {
  grow(ledger.device_count());
  const auto begin = static_cast<std::int64_t>(static_cast<std::uint64_t>(position.first()) +
                                               nothing_.size() * width_);
  newest_begin_ = nothing_.size() * width_;
  if (axis_ == TimelineAxis::Time) held.at.time_ns = std::max(held.at.time_ns, begin);
  nothing_.push_back(point_at(held, {}));
  for (std::size_t d = 0; d < series_.size(); ++d)
    series_[d].push_back(
        point_at(held, row_before(change, device_numbered(d), ledger.row(device_numbered(d)))));
}

void TimelineColumns::grow(std::size_t device_count) {
  while (series_.size() < device_count) series_.push_back(nothing_);
}

void TimelineColumns::raise(TimelinePoint& column, const Instant& now, const LedgerRow& row) {
  join(column, point_at(now, row));
}

void TimelineColumns::halve() {
  merge_pairs(nothing_);
  for (Series& series : series_) merge_pairs(series);
  width_ *= 2;
  newest_begin_ = (nothing_.size() - 1) * width_;
}

std::vector<std::vector<TimelinePoint>> TimelineColumns::answer() const {
  std::vector<Series> result = series_;
  for (Series& series : result)
    while (series.size() > most_) merge_pairs(series);
  return result;
}

}  // namespace tidemark
