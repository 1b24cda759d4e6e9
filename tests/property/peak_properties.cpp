// Properties of the peak: the moment, its breakdown, and what was alive.
#include <algorithm>
#include <map>

#include "tests/property/properties.h"
#include "tests/property/slow_answers.h"
#include "tidemark/engine/analyses/peak.h"

namespace tidemark::test {
namespace {

using Ranked = std::pair<std::uint32_t, SlowStorage>;

// What is alive on a device, most allocated bytes first, lower numbers first among equals.
std::vector<Ranked> slow_ranking(const SlowMoment& moment, std::size_t device) {
  std::vector<Ranked> alive;
  for (const auto& one : moment.alive)
    if (one.second.device == device) alive.emplace_back(one);
  std::stable_sort(alive.begin(), alive.end(), [](const Ranked& a, const Ranked& b) {
    return a.second.allocated > b.second.allocated;
  });
  return alive;
}

void expect_same_fact(const StorageFact& found, const Ranked& slow, const SlowRun& run) {
  expect_equal(found.storage, static_cast<std::int64_t>(slow.first), "storage");
  expect_equal(found.allocated_bytes, slow.second.allocated, "allocated bytes");
  expect_equal(found.requested_bytes, slow.second.requested, "requested bytes");
  expect(found.category == slow.second.category, "category of storage ", slow.first);
  expect_equal(found.device, run.device_name(slow.second.device), "device");
  expect_when(found.born, run, slow.second.born);
}

// What each scope owns of them, most first, lower numbers first among equals; nobody's comes last.
void expect_owners(const DevicePeak& found, const std::vector<Ranked>& alive, const SlowRun& run) {
  std::map<ScopeId, SlowRow> slow;
  for (const Ranked& one : alive) {
    SlowRow& row = slow[one.second.owner];
    row.allocated += one.second.allocated;
    row.categories[one.second.category] += one.second.allocated;
  }
  std::vector<std::pair<ScopeId, SlowRow>> owners(slow.begin(), slow.end());
  std::stable_sort(owners.begin(), owners.end(), [](const auto& a, const auto& b) {
    return a.second.allocated > b.second.allocated;
  });
  expect_equal(found.owners.size(), owners.size(), "owners");
  for (std::size_t i = 0; i < owners.size(); ++i) {
    const auto& [scope, row] = owners[i];
    expect_equal(found.owners[i].scope, run.tape.tables().scope_path(scope), "owner ", i);
    expect_equal(found.owners[i].allocated_bytes, row.allocated, "bytes of owner ", i);
    expect(found.owners[i].categories == row.as_array(), "categories of owner ", i);
  }
}

void expect_same_peak(const DevicePeak& found, const SlowRun& run, std::size_t device,
                      std::int64_t event, const PeakOptions& options) {
  const std::int64_t end = slow_end_of_peak(run, device, event, options.step);
  const SlowMoment& moment = run.moments[static_cast<std::size_t>(end)];
  const SlowRow& row = moment.rows[device];
  expect_equal(found.device, run.device_name(device), "device");
  expect_equal(found.allocated_bytes, row.allocated, "allocated bytes");
  expect_equal(found.requested_bytes, row.requested, "requested bytes");
  expect(found.categories == row.as_array(), "categories at the peak");
  expect_when(found.at, run, event);
  const std::vector<Ranked> alive = slow_ranking(moment, device);
  expect_equal(found.alive_count, static_cast<std::int64_t>(alive.size()), "storages alive");
  expect_equal(found.largest.size(), std::min(options.top, alive.size()), "storages listed");
  for (std::size_t i = 0; i < found.largest.size(); ++i)
    expect_same_fact(found.largest[i], alive[i], run);
  expect_owners(found, alive, run);
}

void the_peak_equals_a_slow_scan(const Sample& sample) {
  Random choices = sample.choices();
  for (bool is_whole : {true, false}) {
    PeakOptions options;
    if (!is_whole) static_cast<Selection&>(options) = random_selection(choices, sample.tape);
    options.top = choices.below(8);
    const PeakAnswer answer = find_peak(sample.tape, options);
    std::size_t next = 0;
    for (std::size_t d = 0; d < sample.slow.device_count(); ++d) {
      if (options.device && *options.device != sample.slow.device_name(d)) continue;
      const auto event = slow_peak_event(sample.slow, d, options.step);
      if (!event) continue;
      expect(next < answer.devices.size(), "a device is missing");
      expect_same_peak(answer.devices[next++], sample.slow, d, *event, options);
    }
    expect_equal(answer.devices.size(), next, "devices");
    expect_equal(answer.events, static_cast<std::int64_t>(sample.tape.size()), "events");
    expect_equal(answer.steps, sample.tape.step_count(), "steps");
  }
}

}  // namespace

std::vector<Property> peak_properties() {
  return {{"the peak equals a slow scan", the_peak_equals_a_slow_scan}};
}

}  // namespace tidemark::test
