// Follows every device's level: each change as a point, or all of them in columns.
#include "tidemark/engine/analyses/timeline.h"

#include <algorithm>

#include "tidemark/engine/analyses/feed.h"
#include "tidemark/engine/analyses/naming.h"
#include "tidemark/engine/analyses/selection.h"
#include "tidemark/engine/analyses/timeline_columns.h"

namespace tidemark {
namespace {

// More columns than any drawing has; empty ones cost memory too.
constexpr std::size_t kMostColumns = 65'536;

class TimelineReplay {
 public:
  TimelineReplay(const Tables& tables, TimelineOptions options, std::uint64_t width)
      : options_(std::move(options)),
        ledger_(tables),
        position_(options_.axis),
        columns_(options_.axis, std::clamp<std::size_t>(options_.columns, 1, kMostColumns),
                 width) {}

  void add(const Event& e);
  TimelineAnswer answer() const;

 private:
  bool is_exact() const { return options_.columns == 0; }
  void take_change(const StorageChange& change);
  void take(DeviceId device, const StorageChange& change);

  TimelineOptions options_;
  Ledger ledger_;
  AxisPosition position_;
  Instant last_;
  TimelineColumns columns_;
  std::vector<std::vector<TimelinePoint>> exact_;  // by device
};

// What the state holds of a device's allocated bytes, and as which category.
std::pair<std::int64_t, Category> share_of(DeviceId device, const StorageState& state,
                                           const Tables& tables) {
  const bool is_there = state.alive() && state.device == device;
  const std::int64_t bytes = is_there ? allocated_bytes(tables, state) : 0;
  return {bytes, bytes > 0 ? state.category : Category::Unknown};
}

void TimelineReplay::add(const Event& e) {
  const std::int64_t step = ledger_.now().step + (e.kind == Kind::Step ? 1 : 0);
  const bool is_in = is_chosen(options_.step, step);
  if (is_in) position_.move_to(ledger_.now().event + 1, e.time_ns);
  const bool is_first = columns_.empty();
  if (is_in && !is_exact() && !is_first) columns_.advance(position_, last_, ledger_);

  const StorageChange change = ledger_.add(e);
  last_ = {ledger_.now(), e.phase};
  if (!is_in) return;
  if (!is_exact() && is_first)
    columns_.advance(position_, last_, ledger_);
  else if (e.kind <= Kind::Relabel)
    take_change(change);
}

void TimelineReplay::take_change(const StorageChange& change) {
  take(change.before.device, change);
  if (change.after.device != change.before.device) take(change.after.device, change);
}

void TimelineReplay::take(DeviceId device, const StorageChange& change) {
  if (!device || share_of(device, change.before, ledger_.tables()) ==
                     share_of(device, change.after, ledger_.tables()))
    return;
  if (!is_exact()) return columns_.take(device, last_, ledger_);
  if (exact_.size() <= device.value) exact_.resize(device.value + std::size_t{1});
  exact_[device.value].push_back(point_at(last_, ledger_.row(device)));
}

bool has_bytes(const std::vector<TimelinePoint>& points) {
  return std::any_of(points.begin(), points.end(), [](auto& p) { return p.highest != 0; });
}

TimelineAnswer TimelineReplay::answer() const {
  const Tables& tables = ledger_.tables();
  TimelineAnswer answer;
  answer.axis = options_.axis;
  answer.first = position_.first();
  answer.last = position_.last();
  std::vector<std::vector<TimelinePoint>> series = is_exact() ? exact_ : columns_.answer();
  for (std::size_t d = 0; d < series.size(); ++d) {
    const DeviceId id(static_cast<DeviceId::rep>(d));
    if (!is_chosen(options_.device, tables, id)) continue;
    if (is_exact() ? series[d].empty() : !has_bytes(series[d])) continue;
    answer.devices.push_back({device_name(tables, id), std::move(series[d])});
  }
  answer.diagnostics = ledger_.diagnostics();
  return answer;
}

// The narrowest columns that are few enough for the whole of a tape.
std::uint64_t fitting_width(const Tape& tape, const TimelineOptions& options) {
  AxisPosition position(options.axis);
  std::int64_t step = 0;
  for (std::size_t i = 0; i < tape.size(); ++i) {
    if (tape.events().kinds()[i] == static_cast<std::uint8_t>(Kind::Step)) ++step;
    if (is_chosen(options.step, step))
      position.move_to(static_cast<std::int64_t>(i), tape.events().times_ns()[i]);
  }
  const std::uint64_t columns = std::clamp<std::size_t>(options.columns, 1, kMostColumns);
  const std::uint64_t width = position.extent() / columns;
  return width == UINT64_MAX ? width : width + 1;
}

}  // namespace

struct TimelineAccumulator::State : TimelineReplay {
  using TimelineReplay::TimelineReplay;
};

TimelineAccumulator::TimelineAccumulator(const Tables& tables, TimelineOptions options)
    : state_(std::make_unique<State>(tables, std::move(options), 1)) {}
TimelineAccumulator::~TimelineAccumulator() = default;
TimelineAccumulator::TimelineAccumulator(TimelineAccumulator&&) noexcept = default;
TimelineAccumulator& TimelineAccumulator::operator=(TimelineAccumulator&&) noexcept = default;

void TimelineAccumulator::add(const Event& event) { state_->add(event); }
TimelineAnswer TimelineAccumulator::answer() const { return state_->answer(); }

TimelineAnswer find_timeline(const Tape& tape, const TimelineOptions& options) {
  check_selection(options, tape);
  return feed(tape, TimelineReplay(tape.tables(), options, fitting_width(tape, options)));
}

}  // namespace tidemark
