// Properties of the timeline: exact, in columns, and while the run goes on.
#include <algorithm>
#include <limits>

#include "tests/property/properties.h"
#include "tests/property/slow_answers.h"
#include "tidemark/engine/analyses/timeline.h"

namespace tidemark::test {
namespace {

// The events of the selection, each with its place on the axis; time that runs back stands still.
struct Placed {
  std::int64_t event, place;
};

std::vector<Placed> placed_events(const SlowRun& run, const TimelineOptions& options) {
  std::vector<Placed> placed;
  std::int64_t last = std::numeric_limits<std::int64_t>::min();
  for (std::size_t i = 0; i < run.moments.size(); ++i) {
    const auto event = static_cast<std::int64_t>(i);
    if (!is_in_step(run, event, options.step)) continue;
    const bool is_time = options.axis == TimelineAxis::Time;
    last = is_time ? std::max(last, run.tape[i].time_ns) : event;
    placed.push_back({event, last});
  }
  return placed;
}

const SlowRow& row_at(const SlowRun& run, std::int64_t event, std::size_t device) {
  return run.moments[static_cast<std::size_t>(event)].rows[device];
}

void expect_state(const TimelinePoint& point, const SlowRun& run, std::size_t device) {
  const SlowRow& row = row_at(run, point.event, device);
  const auto i = static_cast<std::size_t>(point.event);
  expect_equal(point.highest, row.allocated, "highest at event ", i);
  expect(point.categories == row.as_array(), "categories at event ", i);
  expect_equal(point.step, run.moments[i].step, "step at event ", i);
  expect(point.phase == run.tape[i].phase, "phase at event ", i);
}

TimelineOptions random_options(Random& choices, const Tape& tape) {
  TimelineOptions options;
  static_cast<Selection&>(options) = random_selection(choices, tape);
  options.axis = choices.chance(0.5) ? TimelineAxis::Events : TimelineAxis::Time;
  return options;
}

void expect_axis(const TimelineAnswer& answer, const std::vector<Placed>& placed) {
  expect_equal(answer.first, placed.empty() ? 0 : placed.front().place, "first place");
  expect_equal(answer.last, placed.empty() ? 0 : placed.back().place, "last place");
}

const DeviceTimeline* timeline_of(const TimelineAnswer& answer, const std::string& device) {
  for (const DeviceTimeline& one : answer.devices)
    if (one.device == device) return &one;
  return nullptr;
}

void exact_points_are_the_changes(const Sample& sample) {
  Random choices = sample.choices();
  const TimelineOptions options = random_options(choices, sample.tape);
  const TimelineAnswer answer = find_timeline(sample.tape, options);
  const std::vector<Placed> placed = placed_events(sample.slow, options);
  expect_axis(answer, placed);
  for (std::size_t d = 0; d < sample.slow.device_count(); ++d) {
    std::vector<std::int64_t> changes;
    for (const Placed& one : placed) {
      const SlowRow before = one.event == 0 ? SlowRow{} : row_at(sample.slow, one.event - 1, d);
      if (before.categories != row_at(sample.slow, one.event, d).categories)
        changes.push_back(one.event);
    }
    const bool is_left_out = options.device && *options.device != sample.slow.device_name(d);
    const DeviceTimeline* found = timeline_of(answer, sample.slow.device_name(d));
    if (is_left_out || changes.empty()) {
      expect(found == nullptr, "a device without changes is listed");
      continue;
    }
    expect(found != nullptr, "a device is missing");
    expect_equal(found->points.size(), changes.size(), "points");
    for (std::size_t i = 0; i < changes.size(); ++i) {
      expect_equal(found->points[i].event, changes[i], "event of point ", i);
      expect_equal(found->points[i].lowest, found->points[i].highest, "lowest of point ", i);
      expect_state(found->points[i], sample.slow, d);
    }
  }
}

// One column by the definition: the level it begins with, and those of the events inside.
struct SlowColumn {
  std::int64_t lowest = 0, highest = 0, event = 0;
};

std::vector<SlowColumn> slow_columns(const SlowRun& run, const std::vector<Placed>& placed,
                                     std::size_t device, std::size_t most) {
  std::vector<SlowColumn> columns;
  if (placed.empty()) return columns;
  const std::int64_t extent = placed.back().place - placed.front().place;
  const std::int64_t width = extent / static_cast<std::int64_t>(most) + 1;
  for (std::int64_t begin = placed.front().place; begin <= placed.back().place; begin += width) {
    std::vector<std::int64_t> events;
    for (const Placed& one : placed) {
      if (one.place < begin) events = {one.event};  // the last one stands when the column begins
      else if (one.place < begin + width) events.push_back(one.event);
    }
    SlowColumn column{row_at(run, events.front(), device).allocated,
                      row_at(run, events.front(), device).allocated, events.front()};
    for (std::int64_t event : events) {
      const std::int64_t level = row_at(run, event, device).allocated;
      column.lowest = std::min(column.lowest, level);
      if (level > column.highest) column.event = event;
      column.highest = std::max(column.highest, level);
    }
    columns.push_back(column);
  }
  return columns;
}

void columns_keep_lows_and_highs(const Sample& sample) {
  Random choices = sample.choices();
  TimelineOptions options = random_options(choices, sample.tape);
  options.columns = 1 + choices.below(20);
  const TimelineAnswer answer = find_timeline(sample.tape, options);
  const std::vector<Placed> placed = placed_events(sample.slow, options);
  expect_axis(answer, placed);
  for (std::size_t d = 0; d < sample.slow.device_count(); ++d) {
    if (options.device && *options.device != sample.slow.device_name(d)) continue;
    const auto columns = slow_columns(sample.slow, placed, d, options.columns);
    const bool has_bytes = std::any_of(columns.begin(), columns.end(),
                                       [](const SlowColumn& c) { return c.highest > 0; });
    const DeviceTimeline* found = timeline_of(answer, sample.slow.device_name(d));
    expect_equal(found != nullptr, has_bytes, "is listed: device ", d);
    if (!found) continue;
    expect(found->points.size() <= options.columns, "too many columns");
    expect_equal(found->points.size(), columns.size(), "columns");
    for (std::size_t i = 0; i < columns.size(); ++i) {
      expect_equal(found->points[i].lowest, columns[i].lowest, "lowest of column ", i);
      expect_equal(found->points[i].highest, columns[i].highest, "highest of column ", i);
      if (found->points[i].highest == 0) continue;
      expect_equal(found->points[i].event, columns[i].event, "highest event of column ", i);
      expect_state(found->points[i], sample.slow, d);
    }
  }
}

void a_live_timeline_keeps_the_lowest_and_the_highest(const Sample& sample) {
  Random choices = sample.choices();
  TimelineOptions options = random_options(choices, sample.tape);
  options.columns = 1 + choices.below(20);
  TimelineAccumulator live(sample.tape.tables(), options);
  for (std::size_t i = 0; i < sample.tape.size(); ++i) live.add(sample.tape[i]);
  const TimelineAnswer answer = live.answer();
  const std::vector<Placed> placed = placed_events(sample.slow, options);
  for (std::size_t d = 0; d < sample.slow.device_count(); ++d) {
    const DeviceTimeline* found = timeline_of(answer, sample.slow.device_name(d));
    if (!found) continue;
    std::int64_t lowest = INT64_MAX, found_lowest = INT64_MAX;
    SlowHigh highest, found_highest;
    const auto raise = [](SlowHigh& high, std::int64_t event, std::int64_t allocated) {
      if (allocated > high.allocated) high = {event, allocated};
    };
    for (const Placed& one : placed) {
      const std::int64_t level = row_at(sample.slow, one.event, d).allocated;
      lowest = std::min(lowest, level);
      raise(highest, one.event, level);
    }
    for (const TimelinePoint& point : found->points) {
      found_lowest = std::min(found_lowest, point.lowest);
      raise(found_highest, point.event, point.highest);
      if (point.highest > 0) expect_state(point, sample.slow, d);
    }
    expect(found->points.size() <= options.columns, "too many columns");
    expect_equal(found_lowest, lowest, "lowest of all");
    expect_equal(found_highest.allocated, highest.allocated, "highest of all");
    expect_equal(found_highest.event, highest.event, "first event of the highest");
  }
}

}  // namespace

std::vector<Property> timeline_properties() {
  return {{"exact timeline points are the changes", exact_points_are_the_changes},
          {"timeline columns keep lows and highs", columns_keep_lows_and_highs},
          {"a live timeline keeps the lowest and the highest",
           a_live_timeline_keeps_the_lowest_and_the_highest}};
}

}  // namespace tidemark::test
