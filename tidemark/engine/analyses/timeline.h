// Bytes by category over events or time, whole or drawn into N columns.
#pragma once

#include <utility>

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

  void see(const Event& e, const Change& change, const Replay& replay) {
    const Instant held = last_;
    last_ = {replay.now(), e.phase};
    if (!is_chosen(options_.step, replay.now().step)) return;
    position_.move_to(replay.now().event, e.time_ns);
    // The first column begins with what the first event leaves.
    if (!is_exact() && columns_.empty())
      return columns_.advance(position_, last_, {}, replay.ledger());
    if (!is_exact()) columns_.advance(position_, held, change, replay.ledger());
    if (changes_storage(e.kind)) take_change(change, replay.ledger());
  }
  TimelineAnswer answer(const Replay& replay) const;

 private:
  bool is_exact() const { return options_.columns == 0; }
  void take_change(const Change& change, const Ledger& ledger) {
    take(change.before.device(), change, ledger);
    if (change.after.device() != change.before.device())
      take(change.after.device(), change, ledger);
  }
  void take(DeviceId device, const Change& change, const Ledger& ledger) {
    if (!device || share_of(device, change.before) == share_of(device, change.after)) return;
    if (is_exact()) return add_exact(device, ledger);
    columns_.take(device, last_, ledger);
  }
  // What the state holds of a device's allocated bytes, and as which category.
  static std::pair<std::int64_t, Category> share_of(DeviceId device, const ChargedState& state) {
    const std::int64_t bytes = state.device() == device ? state.charged : 0;
    return {bytes, bytes > 0 ? state.category() : Category::Unknown};
  }
  void add_exact(DeviceId device, const Ledger& ledger);

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
