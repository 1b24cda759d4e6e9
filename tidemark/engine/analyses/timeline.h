// Bytes by category over events or time, whole or drawn into N columns.
#pragma once

#include "tidemark/engine/analyses/feed.h"
#include "tidemark/engine/analyses/selection.h"
#include "tidemark/engine/analyses/timeline_columns.h"
#include "tidemark/engine/answers/timeline.h"

namespace tidemark {

struct TimelineOptions : Selection {
  TimelineAxis axis = TimelineAxis::Events;
  std::size_t columns = 0;  // 0: every change; else at most so many points, keeping lows and highs
};

class TimelineObserver {
 public:
  static constexpr Needs kNeeds = {.columns = {.phase = true}};
  // Columns begin `width` wide, and grow wider when there are too many.
  explicit TimelineObserver(TimelineOptions options = {}, std::uint64_t width = 1);

  void see(const Event& e, const Change& change, const Replay& replay);
  TimelineAnswer answer(const Replay& replay) const;

 private:
  bool is_exact() const { return options_.columns == 0; }
  void take_change(const Change& change, const Ledger& ledger);
  void take(DeviceId device, const Change& change, const Ledger& ledger);

  TimelineOptions options_;
  AxisPosition position_;
  Instant last_;
  TimelineColumns columns_;
  std::vector<std::vector<TimelinePoint>> exact_;  // by device
};
using TimelineAccumulator = Accumulator<TimelineObserver>;

// With columns that are right for the length of this tape from the beginning.
TimelineObserver timeline_observer(const Tape& tape, const TimelineOptions& options);

TimelineAnswer find_timeline(const Tape& tape, const TimelineOptions& options = {});

}  // namespace tidemark
