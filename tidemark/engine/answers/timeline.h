// Bytes by category over events or time, as points.
#pragma once

#include <vector>

#include "tidemark/engine/answers/parts.h"
#include "tidemark/engine/base/diagnostics.h"

namespace tidemark {

enum class TimelineAxis : std::uint8_t { Events, Time };

// A change, or a column of many: the state is the one at its highest moment.
struct TimelinePoint {
  std::int64_t event = 0, time_ns = 0;  // of the highest moment
  std::int64_t step = 0;
  Phase phase = Phase::Other;
  std::int64_t lowest = 0, highest = 0;
  CategoryBytes categories{};
  bool operator==(const TimelinePoint&) const = default;
};

struct DeviceTimeline {
  std::string device;
  std::vector<TimelinePoint> points;
  bool operator==(const DeviceTimeline&) const = default;
};

struct TimelineAnswer {
  TimelineAxis axis = TimelineAxis::Events;
  std::int64_t first = 0, last = 0;  // the ends of the axis: events or nanoseconds
  std::vector<DeviceTimeline> devices;
  Diagnostics diagnostics;
  bool operator==(const TimelineAnswer&) const = default;
};

}  // namespace tidemark
