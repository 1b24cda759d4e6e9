// Follows each device's peak, and explains it when asked.
#include "tidemark/engine/analyses/peak.h"

#include "tidemark/engine/analyses/feed.h"
#include "tidemark/engine/analyses/naming.h"
#include "tidemark/engine/analyses/peak_shares.h"
#include "tidemark/engine/analyses/selection.h"
#include "tidemark/engine/replay/peak_keeper.h"

namespace tidemark {
struct PeakAccumulator::State {
  PeakOptions options;
  Ledger ledger;
  LiveSet live;
  std::vector<PeakKeeper> keepers;  // by device

  State(const Tables& tables, PeakOptions o) : options(std::move(o)), ledger(tables) {}

  void add(const Event& e) {
    const StorageChange change = ledger.add(e);
    while (keepers.size() < ledger.device_count())
      keepers.emplace_back(DeviceId(static_cast<DeviceId::rep>(keepers.size())));
    if (e.kind == Kind::Step) {
      // A step may be at its highest as it begins.
      for (PeakKeeper& keeper : keepers) keep(keeper, e, change);
    } else {
      keep_for(change.before.device, e, change);
      if (change.after.device != change.before.device) keep_for(change.after.device, e, change);
    }
    live.add(e, change, ledger.now());
  }

  void keep_for(DeviceId device, const Event& e, const StorageChange& change) {
    if (device.value < keepers.size()) keep(keepers[device.value], e, change);
  }

  void keep(PeakKeeper& keeper, const Event& e, const StorageChange& change) {
    keeper.add(e, change, ledger, live, is_chosen(options.step, ledger.now().step));
  }

  DevicePeak explain(const PeakKeeper& keeper) const {
    const Tables& tables = ledger.tables();
    const std::vector<LiveStorage> alive = keeper.alive_at_peak(live);
    return {.device = device_name(tables, keeper.device()),
            .allocated_bytes = keeper.row().allocated,
            .requested_bytes = keeper.row().requested,
            .at = describe(tables, keeper.at(), keeper.event()),
            .categories = keeper.row().by_category,
            .alive_count = static_cast<std::int64_t>(alive.size()),
            .largest = largest_of(alive, options.top, tables),
            .owners = owners_of(alive, tables),
            .modules = modules_of(alive, options.depth, tables),
            .sites = sites_of(alive, options.top, tables),
            .lines = lines_of(alive, options.top, tables)};
  }
};

PeakAccumulator::PeakAccumulator(const Tables& tables, PeakOptions options)
    : state_(std::make_unique<State>(tables, std::move(options))) {}
PeakAccumulator::~PeakAccumulator() = default;
PeakAccumulator::PeakAccumulator(PeakAccumulator&&) noexcept = default;
PeakAccumulator& PeakAccumulator::operator=(PeakAccumulator&&) noexcept = default;

void PeakAccumulator::add(const Event& event) { state_->add(event); }

PeakAnswer PeakAccumulator::answer() const {
  PeakAnswer answer;
  for (const PeakKeeper& keeper : state_->keepers)
    if (keeper.found() &&
        is_chosen(state_->options.device, state_->ledger.tables(), keeper.device()))
      answer.devices.push_back(state_->explain(keeper));
  answer.events = state_->ledger.now().event + 1;
  answer.steps = state_->ledger.now().step;
  answer.diagnostics = state_->ledger.diagnostics();
  return answer;
}

PeakAnswer find_peak(const Tape& tape, const PeakOptions& options) {
  check_selection(options, tape);
  return feed(tape, PeakAccumulator(tape.tables(), options));
}

}  // namespace tidemark
