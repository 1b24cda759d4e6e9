// Bytes by category over events or time, whole or drawn into N columns.
#pragma once

#include <memory>

#include "tidemark/engine/analyses/selection.h"
#include "tidemark/engine/answers/timeline.h"
#include "tidemark/engine/tape/tape.h"

namespace tidemark {

struct TimelineOptions : Selection {
  TimelineAxis axis = TimelineAxis::Events;
  std::size_t columns = 0;  // 0: every change; else at most so many points, keeping lows and highs
};

class TimelineAccumulator {
 public:
  explicit TimelineAccumulator(const Tables& tables, TimelineOptions options = {});
  ~TimelineAccumulator();
  TimelineAccumulator(TimelineAccumulator&&) noexcept;
  TimelineAccumulator& operator=(TimelineAccumulator&&) noexcept;

  void add(const Event& event);
  TimelineAnswer answer() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

TimelineAnswer find_timeline(const Tape& tape, const TimelineOptions& options = {});

}  // namespace tidemark
