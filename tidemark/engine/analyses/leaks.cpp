// Watches the level at each step's end, and groups what is left alive by where it was born.
#include "tidemark/engine/analyses/leaks.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "tidemark/engine/analyses/feed.h"
#include "tidemark/engine/analyses/naming.h"
#include "tidemark/engine/analyses/selection.h"
#include "tidemark/engine/replay/live_set.h"

namespace tidemark {
namespace {

constexpr std::int64_t kWarmUpStep = 1;
constexpr std::int64_t kEnoughSteps = 3;
constexpr std::size_t kLeastStepsOfASite = 2;

// Device, category, scope, operator, file, line: another signature or caller is the same site.
using SiteKey = std::tuple<DeviceId, Category, ScopeId, StringId, StringId, std::uint32_t>;

struct SiteSum {
  LiveStorage example;
  std::int64_t count = 0, allocated_bytes = 0;
  std::set<std::int64_t> steps;
};

SiteKey site_of(const LiveStorage& one, const Tables& tables) {
  const StringId op = one.born.call ? tables.calls()[one.born.call.value].op : StringId();
  const Frame frame =
      one.born.stack ? tables.stacks()[one.born.stack.value].frame : Frame{};
  return {one.state.device, one.state.category, one.born.scope, op, frame.file, frame.line};
}

LeakSite described(const SiteSum& sum, const Tables& tables) {
  StorageFact fact = describe(tables, sum.example);
  const auto steps = static_cast<std::int64_t>(sum.steps.size());
  return {.device = std::move(fact.device),
          .scope = std::move(fact.born.scope),
          .op = std::move(fact.born.op),
          .source = std::move(fact.born.source),
          .category = fact.category,
          .count = sum.count,
          .allocated_bytes = sum.allocated_bytes,
          .steps = steps,
          .bytes_per_step = sum.allocated_bytes / steps,
          .first_step = *sum.steps.begin(),
          .last_step = *sum.steps.rbegin()};
}

}  // namespace

struct LeaksAccumulator::State {
  LeaksOptions options;
  Ledger ledger;
  LiveSet live;
  std::vector<std::vector<std::int64_t>> levels;  // by step that has ended, by device

  State(const Tables& tables, LeaksOptions o) : options(std::move(o)), ledger(tables) {}

  void add(const Event& e) {
    const StorageChange change = ledger.add(e);
    if (e.kind == Kind::Step) note_levels();
    live.add(e, change, ledger.now());
  }

  void note_levels() {
    std::vector<std::int64_t>& level = levels.emplace_back(ledger.device_count());
    for (std::size_t d = 0; d < level.size(); ++d)
      level[d] = ledger.row(DeviceId(static_cast<DeviceId::rep>(d))).allocated;
  }

  // A device that appeared later was empty before.
  std::int64_t level(std::size_t step, std::size_t device) const {
    return device < levels[step].size() ? levels[step][device] : 0;
  }

  bool was_always_empty(std::size_t device) const {
    for (std::size_t step = 0; step < levels.size(); ++step)
      if (level(step, device) != 0) return false;
    return true;
  }

  bool is_left_behind(const LiveStorage& one) const {
    const std::int64_t step = one.born.at.step;
    return step > kWarmUpStep && step < ledger.now().step && one.state.bytes > 0 &&
           is_chosen(options.device, ledger.tables(), one.state.device);
  }

  std::vector<LeakSite> sites() const;
  std::vector<StepLevel> step_levels() const;
};

std::vector<LeakSite> LeaksAccumulator::State::sites() const {
  const Tables& tables = ledger.tables();
  std::map<SiteKey, SiteSum> sums;
  for (const LiveStorage& one : live.all()) {
    if (!is_left_behind(one)) continue;
    SiteSum& sum = sums[site_of(one, tables)];
    if (sum.count++ == 0) sum.example = one;
    sum.allocated_bytes = add_saturating(sum.allocated_bytes, allocated_bytes(tables, one.state));
    sum.steps.insert(one.born.at.step);
  }
  std::vector<LeakSite> sites;
  for (const auto& [key, sum] : sums)
    if (sum.steps.size() >= kLeastStepsOfASite) sites.push_back(described(sum, tables));
  std::stable_sort(sites.begin(), sites.end(), [](const LeakSite& a, const LeakSite& b) {
    return a.allocated_bytes > b.allocated_bytes;
  });
  return sites;
}

std::vector<StepLevel> LeaksAccumulator::State::step_levels() const {
  std::vector<StepLevel> result;
  const Tables& tables = ledger.tables();
  for (std::size_t d = 0; d < ledger.device_count(); ++d) {
    const DeviceId id(static_cast<DeviceId::rep>(d));
    if (!is_chosen(options.device, tables, id) || was_always_empty(d)) continue;
    for (std::size_t step = 0; step < levels.size(); ++step)
      result.push_back({device_name(tables, id), static_cast<std::int64_t>(step), level(step, d)});
  }
  return result;
}

LeaksAccumulator::LeaksAccumulator(const Tables& tables, LeaksOptions options)
    : state_(std::make_unique<State>(tables, std::move(options))) {}
LeaksAccumulator::~LeaksAccumulator() = default;
LeaksAccumulator::LeaksAccumulator(LeaksAccumulator&&) noexcept = default;
LeaksAccumulator& LeaksAccumulator::operator=(LeaksAccumulator&&) noexcept = default;

void LeaksAccumulator::add(const Event& event) { state_->add(event); }

LeaksAnswer LeaksAccumulator::answer() const {
  LeaksAnswer answer;
  answer.finished_steps = std::max<std::int64_t>(0, state_->ledger.now().step - 1);
  answer.enough_steps = answer.finished_steps >= kEnoughSteps;
  answer.sites = state_->sites();
  for (const LeakSite& site : answer.sites)
    answer.leaked_bytes = add_saturating(answer.leaked_bytes, site.allocated_bytes);
  if (answer.sites.size() > state_->options.top) answer.sites.resize(state_->options.top);
  answer.levels = state_->step_levels();
  answer.diagnostics = state_->ledger.diagnostics();
  return answer;
}

LeaksAnswer find_leaks(const Tape& tape, const LeaksOptions& options) {
  check_device(options.device, tape);
  return feed(tape, LeaksAccumulator(tape.tables(), options));
}

}  // namespace tidemark
