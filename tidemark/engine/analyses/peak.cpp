// Follows each device's peak, and explains it when asked.
#include "tidemark/engine/analyses/peak.h"

#include <algorithm>
#include <map>

#include "tidemark/engine/analyses/feed.h"
#include "tidemark/engine/analyses/naming.h"
#include "tidemark/engine/analyses/selection.h"
#include "tidemark/engine/base/saturating.h"
#include "tidemark/engine/replay/peak_keeper.h"

namespace tidemark {
namespace {

// The largest by allocated bytes; the storage's number makes the order of equals fixed.
std::vector<StorageFact> largest_of(std::vector<LiveStorage> alive, std::size_t top,
                                    const Tables& tables) {
  const auto larger = [&](const LiveStorage& a, const LiveStorage& b) {
    const std::int64_t bytes_a = allocated_bytes(tables, a.state);
    const std::int64_t bytes_b = allocated_bytes(tables, b.state);
    return bytes_a != bytes_b ? bytes_a > bytes_b : a.storage < b.storage;
  };
  const auto end = alive.begin() + static_cast<std::ptrdiff_t>(std::min(top, alive.size()));
  std::partial_sort(alive.begin(), end, alive.end(), larger);
  std::vector<StorageFact> facts;
  for (auto one = alive.begin(); one != end; ++one) facts.push_back(describe(tables, *one));
  return facts;
}

// A storage belongs to the scope that labelled it last, else to the one it was born in.
std::vector<ScopeShare> shares_of(const std::vector<LiveStorage>& alive, const Tables& tables) {
  std::map<ScopeId, ScopeShare> by_scope;
  for (const LiveStorage& one : alive) {
    ScopeShare& share = by_scope[one.owner];
    const std::int64_t bytes = allocated_bytes(tables, one.state);
    std::int64_t& category = share.categories[static_cast<std::size_t>(one.state.category)];
    share.allocated_bytes = add_saturating(share.allocated_bytes, bytes);
    category = add_saturating(category, bytes);
  }
  std::vector<ScopeShare> shares;
  for (auto& [scope, share] : by_scope) {
    share.scope = tables.scope_path(scope);
    shares.push_back(std::move(share));
  }
  std::stable_sort(shares.begin(), shares.end(), [](const ScopeShare& a, const ScopeShare& b) {
    return a.allocated_bytes > b.allocated_bytes;
  });
  return shares;
}

}  // namespace

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
    std::vector<LiveStorage> alive = keeper.alive_at_peak(live);
    std::vector<ScopeShare> owners = shares_of(alive, tables);
    return {.device = device_name(tables, keeper.device()),
            .allocated_bytes = keeper.row().allocated,
            .requested_bytes = keeper.row().requested,
            .at = describe(tables, keeper.at(), keeper.event()),
            .categories = keeper.row().by_category,
            .alive_count = static_cast<std::int64_t>(alive.size()),
            .largest = largest_of(std::move(alive), options.top, tables),
            .owners = std::move(owners)};
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
