// Properties of lifetimes and leaks.
#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "tests/property/properties.h"
#include "tests/property/slow_answers.h"
#include "tidemark/engine/analyses/leaks.h"
#include "tidemark/engine/analyses/lifetimes.h"

namespace tidemark::test {
namespace {

// One life, found by following a storage through the moments it was alive in.
struct SlowLife {
  std::uint32_t storage = 0;
  SlowStorage largest;  // of equal sizes the last
  Category last_category = Category::Unknown;
  std::int64_t born = 0, died = -1;  // events; -1: never
  std::int64_t events = 0;
  LifeSpan span = LifeSpan::ToTheEnd;
};

// The same phase at both ends and no other between; a recomputation belongs to its backward.
bool is_one_phase(const SlowRun& run, std::int64_t born, std::int64_t died) {
  const auto merged = [&](std::int64_t event) {
    const Phase phase = run.tape[static_cast<std::size_t>(event)].phase;
    return phase == Phase::Recompute ? Phase::Backward : phase;
  };
  for (std::int64_t i = born; i <= died; ++i)
    if (merged(i) != merged(born)) return false;
  return run.tape[static_cast<std::size_t>(born)].phase ==
         run.tape[static_cast<std::size_t>(died)].phase;
}

SlowLife follow(const SlowRun& run, std::uint32_t storage, std::int64_t born) {
  SlowLife life{storage, {}, Category::Unknown, born};
  const auto last = static_cast<std::int64_t>(run.moments.size()) - 1;
  std::int64_t i = born;
  for (; i <= last; ++i) {
    const auto& alive = run.moments[static_cast<std::size_t>(i)].alive;
    auto one = alive.find(storage);
    if (one == alive.end() || one->second.born != born) break;
    if (i == born || one->second.requested >= life.largest.requested) life.largest = one->second;
    life.last_category = one->second.category;
  }
  life.events = std::min(i, last) - born;
  if (i > last) return life;
  life.died = i;
  const auto at = [&](std::int64_t event) { return static_cast<std::size_t>(event); };
  if (run.moments[at(born)].step != run.moments[at(i)].step) life.span = LifeSpan::AcrossSteps;
  else life.span = is_one_phase(run, born, i) ? LifeSpan::WithinPhase : LifeSpan::WithinStep;
  return life;
}

std::vector<SlowLife> slow_lives(const SlowRun& run, const Selection& selection) {
  std::vector<SlowLife> lives;
  for (std::size_t i = 0; i < run.moments.size(); ++i) {
    const Event e = run.tape[i];
    const auto event = static_cast<std::int64_t>(i);
    if (e.kind != Kind::Alloc || !is_in_step(run, event, selection.step)) continue;
    if (selection.device && run.device_name(e.device.value) != *selection.device) continue;
    lives.push_back(follow(run, e.subject, event));
  }
  return lives;
}

using GroupKey = std::pair<Category, LifeSpan>;

void expect_groups(const LifetimesAnswer& answer, const std::vector<SlowLife>& lives) {
  std::map<GroupKey, LifetimeGroup> sums;
  for (const SlowLife& life : lives) {
    LifetimeGroup& group = sums[{life.last_category, life.span}];
    ++group.count;
    group.allocated_bytes += life.largest.allocated;
    group.largest_bytes = std::max(group.largest_bytes, life.largest.allocated);
    group.mean_events += life.events;
  }
  // Most bytes first; equals in the order of categories and spans.
  std::vector<std::pair<GroupKey, LifetimeGroup>> groups(sums.begin(), sums.end());
  std::stable_sort(groups.begin(), groups.end(), [](const auto& a, const auto& b) {
    return a.second.allocated_bytes > b.second.allocated_bytes;
  });
  expect_equal(answer.groups.size(), groups.size(), "groups");
  for (std::size_t i = 0; i < answer.groups.size(); ++i) {
    const LifetimeGroup& found = answer.groups[i];
    const auto& [key, slow] = groups[i];
    expect(key == GroupKey{found.category, found.span}, "another group is number ", i);
    expect_equal(found.count, slow.count, "lives in group ", i);
    expect_equal(found.allocated_bytes, slow.allocated_bytes, "bytes in group ", i);
    expect_equal(found.largest_bytes, slow.largest_bytes, "largest in group ", i);
    expect_equal(found.mean_events, slow.mean_events / slow.count, "mean of group ", i);
  }
}

void expect_life(const Lifetime& found, const SlowLife& slow, const SlowRun& run) {
  expect_equal(found.storage.storage, static_cast<std::int64_t>(slow.storage), "storage");
  expect_equal(found.storage.allocated_bytes, slow.largest.allocated, "bytes");
  expect_equal(found.storage.requested_bytes, slow.largest.requested, "requested bytes");
  expect(found.storage.category == slow.largest.category, "category");
  expect_when(found.storage.born, run, slow.born);
  expect_equal(found.events, slow.events, "events");
  expect(found.span == slow.span, "span");
  expect_equal(found.died.has_value(), slow.died >= 0, "has died");
  if (found.died) expect_when(*found.died, run, slow.died);
  const std::size_t end =
      slow.died >= 0 ? static_cast<std::size_t>(slow.died) : run.tape.size() - 1;
  const std::int64_t time =
      run.tape[end].time_ns - run.tape[static_cast<std::size_t>(slow.born)].time_ns;
  expect_equal(found.time_ns, std::max<std::int64_t>(time, 0), "time");
}

void lifetimes_equal_slow_ones(const Sample& sample) {
  Random choices = sample.choices();
  LifetimesOptions options;
  static_cast<Selection&>(options) = random_selection(choices, sample.tape);
  options.top = choices.below(12);
  const LifetimesAnswer answer = find_lifetimes(sample.tape, options);
  std::vector<SlowLife> lives = slow_lives(sample.slow, options);
  expect_equal(answer.storages, static_cast<std::int64_t>(lives.size()), "lives");
  expect_groups(answer, lives);
  // Lives are in the order of births, and stay so among equals.
  std::stable_sort(lives.begin(), lives.end(), [](const SlowLife& a, const SlowLife& b) {
    return a.largest.allocated * a.events > b.largest.allocated * b.events;
  });
  expect_equal(answer.heaviest.size(), std::min(options.top, lives.size()), "heaviest");
  for (std::size_t i = 0; i < answer.heaviest.size(); ++i)
    expect_life(answer.heaviest[i], lives[i], sample.slow);
}

// Where a storage was born, by the numbers of the tables: equals are listed in their order.
using Site = std::tuple<std::size_t, Category, ScopeId, StringId, StringId, std::uint32_t>;

struct SlowSite {
  std::int64_t count = 0, bytes = 0;
  std::set<std::int64_t> steps;
  When born;
  std::string device;
};

Site site_of(const SlowStorage& one, const Event& born, const Tables& tables) {
  const StringId op = born.call ? tables.calls()[born.call.value].op : StringId();
  const Frame frame = born.stack ? tables.stacks()[born.stack.value].frame : Frame();
  return {one.device, one.category, born.scope, op, frame.file, frame.line};
}

// Most bytes first.
std::vector<std::pair<Site, SlowSite>> slow_sites(const SlowRun& run, const LeaksOptions& options) {
  std::map<Site, SlowSite> sums;
  const Tables& tables = run.tape.tables();
  const auto last = run.moments.empty() ? SlowMoment() : run.moments.back();
  for (const auto& [storage, one] : last.alive) {
    const auto born = static_cast<std::size_t>(one.born);
    const std::int64_t step = run.moments[born].step;
    const bool is_chosen = !options.device || *options.device == run.device_name(one.device);
    if (step < 2 || step >= run.tape.step_count() || one.requested == 0 || !is_chosen) continue;
    const Event e = run.tape[born];
    SlowSite& site = sums[site_of(one, e, tables)];
    ++site.count;
    site.bytes += one.allocated;
    site.steps.insert(step);
    site.device = run.device_name(one.device);
    site.born.scope = tables.scope_path(e.scope);
    site.born.op = tables.op_name(e.call);
    site.born.source = tables.source(e.stack);
  }
  std::erase_if(sums, [](const auto& entry) { return entry.second.steps.size() < 2; });
  std::vector<std::pair<Site, SlowSite>> sites(sums.begin(), sums.end());
  std::stable_sort(sites.begin(), sites.end(),
                   [](const auto& a, const auto& b) { return a.second.bytes > b.second.bytes; });
  return sites;
}

void expect_site(const LeakSite& found, const Site& key, const SlowSite& slow, std::size_t i) {
  const auto steps = static_cast<std::int64_t>(slow.steps.size());
  expect_equal(found.device, slow.device, "device of site ", i);
  expect(found.category == std::get<Category>(key), "category of site ", i);
  expect_equal(found.scope, slow.born.scope, "scope of site ", i);
  expect_equal(found.op, slow.born.op, "operator of site ", i);
  expect_equal(found.source, slow.born.source, "source of site ", i);
  expect_equal(found.count, slow.count, "storages of site ", i);
  expect_equal(found.allocated_bytes, slow.bytes, "bytes of site ", i);
  expect_equal(found.steps, steps, "steps of site ", i);
  expect_equal(found.bytes_per_step, slow.bytes / steps, "bytes per step of site ", i);
  expect_equal(found.first_step, *slow.steps.begin(), "first step of site ", i);
  expect_equal(found.last_step, *slow.steps.rbegin(), "last step of site ", i);
}

void expect_levels(const LeaksAnswer& answer, const SlowRun& run, const LeaksOptions& options) {
  std::vector<StepLevel> slow;
  for (std::size_t d = 0; d < run.device_count(); ++d) {
    std::vector<StepLevel> levels;
    bool has_bytes = false;
    for (std::size_t i = 0; i < run.moments.size(); ++i) {
      if (run.tape[i].kind != Kind::Step) continue;
      const std::int64_t bytes = run.moments[i].rows[d].allocated;
      levels.push_back({run.device_name(d), run.moments[i].step - 1, bytes});
      has_bytes |= bytes > 0;
    }
    const bool is_chosen = !options.device || *options.device == run.device_name(d);
    if (has_bytes && is_chosen) slow.insert(slow.end(), levels.begin(), levels.end());
  }
  expect_equal(answer.levels.size(), slow.size(), "levels");
  for (std::size_t i = 0; i < slow.size(); ++i) {
    expect_equal(answer.levels[i].device, slow[i].device, "device of level ", i);
    expect_equal(answer.levels[i].step, slow[i].step, "step of level ", i);
    expect_equal(answer.levels[i].allocated_bytes, slow[i].allocated_bytes, "level ", i);
  }
}

void leaks_equal_slow_ones(const Sample& sample) {
  Random choices = sample.choices();
  LeaksOptions options;
  options.device = random_selection(choices, sample.tape).device;
  options.top = choices.chance(0.5) ? choices.below(4) : 1000;
  const LeaksAnswer answer = find_leaks(sample.tape, options);
  const auto sites = slow_sites(sample.slow, options);
  expect_equal(answer.sites.size(), std::min(options.top, sites.size()), "sites");
  for (std::size_t i = 0; i < answer.sites.size(); ++i)
    expect_site(answer.sites[i], sites[i].first, sites[i].second, i);
  std::int64_t leaked = 0;
  for (const auto& [key, site] : sites) leaked += site.bytes;
  expect_equal(answer.leaked_bytes, leaked, "leaked bytes");
  const std::int64_t finished = std::max<std::int64_t>(0, sample.tape.step_count() - 1);
  expect_equal(answer.finished_steps, finished, "finished steps");
  expect_equal(answer.enough_steps, finished >= 3, "enough steps");
  expect_levels(answer, sample.slow, options);
}

}  // namespace

std::vector<Property> lifetimes_properties() {
  return {{"lifetimes equal slow ones", lifetimes_equal_slow_ones},
          {"leaks equal slow ones", leaks_equal_slow_ones}};
}

}  // namespace tidemark::test
