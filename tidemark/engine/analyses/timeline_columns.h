// A timeline drawn into columns of equal width while its length is not yet known.
//
// Columns tile the axis from the first event on. When more than twice the wanted number are
// needed, neighbours merge and the width doubles:
//
//   |1 4|3 2|5 5|0 1|   width 1, lowest and highest of each column
//   |1   4|   |0   5|   width 2
//
// Merging keeps every low and high, and each event costs O(1) amortised.
#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "tidemark/engine/answers/timeline.h"
#include "tidemark/engine/replay/ledger.h"

namespace tidemark {

// When a level was reached.
struct Instant {
  Moment at;
  Phase phase = Phase::Other;
};
TimelinePoint point_at(const Instant& when, const LedgerRow& level);

// Where on the axis the events have come to. Time that runs back stands still.
class AxisPosition {
 public:
  explicit AxisPosition(TimelineAxis axis) : axis_(axis) {}
  void move_to(std::int64_t event, std::int64_t time_ns) {
    const std::int64_t place = axis_ == TimelineAxis::Events ? event : time_ns;
    if (!first_) first_ = last_ = place;
    last_ = std::max(last_, place);
  }
  std::int64_t first() const { return first_.value_or(0); }
  std::int64_t last() const { return last_; }
  // How far the last event is from the first. Unsigned: times may span all 64 bits.
  std::uint64_t extent() const {
    return static_cast<std::uint64_t>(last_) - static_cast<std::uint64_t>(first());
  }

 private:
  TimelineAxis axis_;
  std::optional<std::int64_t> first_;
  std::int64_t last_ = 0;
};

class TimelineColumns {
 public:
  // At most `most` columns in the answer; any width above 0 will do to begin with.
  TimelineColumns(TimelineAxis axis, std::size_t most, std::uint64_t width)
      : axis_(axis), most_(most), width_(width) {}

  // Opens the columns up to this place on the axis. They begin with the levels before the change
  // that the ledger has just seen, which stand since `held`.
  void advance(const AxisPosition& position, const Instant& held, const Change& change,
               const Ledger& ledger) {
    if (nothing_.empty() || position.extent() - newest_begin_ >= width_)
      open_up_to(position, held, change, ledger);
  }
  // Takes the device's level into the newest column.
  void take(DeviceId device, const Instant& now, const Ledger& ledger) {
    if (device.value >= series_.size()) grow(device.value + std::size_t{1});
    TimelinePoint& column = series_[device.value].back();
    const LedgerRow& row = ledger.row(device);
    if (row.allocated > column.highest) raise(column, now, row);
    column.lowest = std::min(column.lowest, row.allocated);
  }
  bool empty() const { return nothing_.empty(); }

  // The columns by device number, merged to at most as many as wanted.
  std::vector<std::vector<TimelinePoint>> answer() const;

 private:
  using Series = std::vector<TimelinePoint>;
  void open_up_to(const AxisPosition& position, const Instant& held, const Change& change,
                  const Ledger& ledger);
  void open(const AxisPosition& position, Instant held, const Change& change, const Ledger& ledger);
  void grow(std::size_t device_count);
  static void raise(TimelinePoint& column, const Instant& now, const LedgerRow& row);
  void halve();

  TimelineAxis axis_;
  std::size_t most_;
  std::uint64_t width_;
  std::uint64_t newest_begin_ = 0;  // of the newest column, from the first event on
  Series nothing_;              // a device that is always empty: the past of one that appears late
  std::vector<Series> series_;  // by device
};

}  // namespace tidemark
