// Bytes by category over events or time, whole or drawn into N columns.
#pragma once

#include <memory>
#include <vector>

#include "tidemark/analyses/answer_parts.h"
#include "tidemark/base/diagnostics.h"
#include "tidemark/tape/tape.h"

namespace tidemark {

enum class TimelineAxis : std::uint8_t { Events, Time };

struct TimelineOptions : Selection {
  TimelineAxis axis = TimelineAxis::Events;
  std::size_t columns = 0;  // 0: every change; else at most so many points, keeping lows and highs
};

// A change, or a column of many: the state is the one at its highest moment.
struct TimelinePoint {
  std::int64_t event = 0, time_ns = 0;  // of the highest moment
  std::int64_t step = 0;
  Phase phase = Phase::Other;
  std::int64_t lowest = 0, highest = 0;
  CategoryBytes categories{};
};

struct DeviceTimeline {
  std::string device;
  std::vector<TimelinePoint> points;
};

struct TimelineAnswer {
  TimelineAxis axis = TimelineAxis::Events;
  std::int64_t first = 0, last = 0;  // the ends of the axis: events or nanoseconds
  std::vector<DeviceTimeline> devices;
  Diagnostics diagnostics;
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
