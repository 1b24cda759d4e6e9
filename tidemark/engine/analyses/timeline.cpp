// Follows every device's level: each change as a point, or all of them in columns.
#include "tidemark/engine/analyses/timeline.h"

#include <algorithm>

#include "tidemark/engine/analyses/naming.h"

namespace tidemark {
namespace {

// More columns than any drawing has; empty ones cost memory too.
constexpr std::size_t kMostColumns = 65'536;

bool any_has_bytes(const std::vector<TimelinePoint>& points) {
  return std::any_of(points.begin(), points.end(), [](auto& p) { return p.highest != 0; });
}

// Where the events of a selection come to.
AxisPosition last_position(const Tape& tape, const TimelineOptions& options) {
  AxisPosition position(options.axis);
  const auto kinds = tape.events().kinds();
  const auto times_ns = tape.events().times_ns();
  std::int64_t step = 0;
  for (std::size_t i = 0; i < tape.size(); ++i) {
    if (kinds[i] == static_cast<std::uint8_t>(Kind::Step)) ++step;
    if (is_chosen(options.step, step)) position.move_to(static_cast<std::int64_t>(i), times_ns[i]);
  }
  return position;
}

// The narrowest columns that are few enough for the whole of a tape.
std::uint64_t fitting_width(const Tape& tape, const TimelineOptions& options) {
  const AxisPosition position = last_position(tape, options);
  const std::uint64_t columns = std::clamp<std::size_t>(options.columns, 1, kMostColumns);
  const std::uint64_t width = position.extent() / columns;
  return width == UINT64_MAX ? width : width + 1;
}

}  // namespace

TimelineObserver::TimelineObserver(TimelineOptions options, std::uint64_t width)
    : options_(std::move(options)),
      position_(options_.axis),
      columns_(options_.axis, std::clamp<std::size_t>(options_.columns, 1, kMostColumns), width) {}

void TimelineObserver::add_exact(DeviceId device, const Ledger& ledger) {
  if (exact_.size() <= device.value) exact_.resize(device.value + std::size_t{1});
  exact_[device.value].push_back(point_at(last_, ledger.row(device)));
}

TimelineAnswer TimelineObserver::answer(const Replay& replay) const {
  const Tables& tables = replay.tables();
  TimelineAnswer answer;
  answer.axis = options_.axis;
  answer.first = position_.first();
  answer.last = position_.last();
  std::vector<std::vector<TimelinePoint>> series = is_exact() ? exact_ : columns_.answer();
  for (std::size_t d = 0; d < series.size(); ++d) {
    const DeviceId id = device_numbered(d);
    if (!is_chosen(options_.device, tables, id)) continue;
    if (is_exact() ? series[d].empty() : !any_has_bytes(series[d])) continue;
    answer.devices.push_back({device_name(tables, id), std::move(series[d])});
  }
  answer.diagnostics = replay.ledger().diagnostics();
  return answer;
}

TimelineObserver timeline_observer(const Tape& tape, const TimelineOptions& options) {
  return TimelineObserver(options, fitting_width(tape, options));
}

TimelineAnswer find_timeline(const Tape& tape, const TimelineOptions& options) {
  check_selection(options, tape);
  return feed(tape, timeline_observer(tape, options));
}

}  // namespace tidemark
