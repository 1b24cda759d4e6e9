// Watches the level at each step's end, and groups what is left alive by where it was born.
#include "tidemark/engine/analyses/leaks.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "tidemark/engine/analyses/naming.h"
#include "tidemark/engine/analyses/selection.h"

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
  const Frame frame = one.born.stack ? tables.stacks()[one.born.stack.value].frame : Frame{};
  return {one.state.device(), one.state.category(), one.born.scope, op, frame.file, frame.line};
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

void LeaksObserver::see(const Event& e, const Change&, const Replay& replay) {
  if (e.kind != Kind::Step) return;
  std::vector<std::int64_t>& level = levels_.emplace_back(replay.ledger().device_count());
  for (std::size_t d = 0; d < level.size(); ++d)
    level[d] = replay.ledger().row(device_numbered(d)).allocated;
}

// A device that appeared later was empty before.
std::int64_t LeaksObserver::level(std::size_t step, std::size_t device) const {
  return device < levels_[step].size() ? levels_[step][device] : 0;
}

bool LeaksObserver::was_always_empty(std::size_t device) const {
  for (std::size_t step = 0; step < levels_.size(); ++step)
    if (level(step, device) != 0) return false;
  return true;
}

bool LeaksObserver::is_left_behind(const LiveStorage& one, const Replay& replay) const {
  const std::int64_t step = one.born.at.step;
  return step > kWarmUpStep && step < replay.now().step && one.state.bytes() > 0 &&
         is_chosen(options_.device, replay.tables(), one.state.device());
}

std::vector<LeakSite> LeaksObserver::sites(const Replay& replay) const {
  const Tables& tables = replay.tables();
  std::map<SiteKey, SiteSum> sums;
  replay.live().for_each([&](const LiveStorage& one) {
    if (!is_left_behind(one, replay)) return;
    SiteSum& sum = sums[site_of(one, tables)];
    if (sum.count++ == 0) sum.example = one;
    sum.allocated_bytes = add_saturating(sum.allocated_bytes, one.state.charged);
    sum.steps.insert(one.born.at.step);
  });
  std::vector<LeakSite> sites;
  for (const auto& [key, sum] : sums)
    if (sum.steps.size() >= kLeastStepsOfASite) sites.push_back(described(sum, tables));
  std::stable_sort(sites.begin(), sites.end(), [](const LeakSite& a, const LeakSite& b) {
    return a.allocated_bytes > b.allocated_bytes;
  });
  return sites;
}

std::vector<StepLevel> LeaksObserver::step_levels(const Replay& replay) const {
  std::vector<StepLevel> result;
  const Tables& tables = replay.tables();
  for (std::size_t d = 0; d < replay.ledger().device_count(); ++d) {
    const DeviceId id = device_numbered(d);
    if (!is_chosen(options_.device, tables, id) || was_always_empty(d)) continue;
    for (std::size_t step = 0; step < levels_.size(); ++step)
      result.push_back({device_name(tables, id), static_cast<std::int64_t>(step), level(step, d)});
  }
  return result;
}

LeaksAnswer LeaksObserver::answer(const Replay& replay) const {
  LeaksAnswer answer;
  answer.finished_steps = std::max<std::int64_t>(0, replay.now().step - 1);
  answer.enough_steps = answer.finished_steps >= kEnoughSteps;
  answer.sites = sites(replay);
  for (const LeakSite& site : answer.sites)
    answer.leaked_bytes = add_saturating(answer.leaked_bytes, site.allocated_bytes);
  if (answer.sites.size() > options_.top) answer.sites.resize(options_.top);
  answer.levels = step_levels(replay);
  answer.diagnostics = replay.ledger().diagnostics();
  return answer;
}

LeaksAnswer find_leaks(const Tape& tape, const LeaksOptions& options) {
  check_device(options.device, tape);
  return feed(tape, LeaksObserver(options));
}

}  // namespace tidemark
