// Properties of the difference of two tapes.
#include <algorithm>
#include <map>
#include <set>

#include "tests/property/properties.h"
#include "tests/property/slow_answers.h"
#include "tidemark/engine/analyses/diff.h"
#include "tidemark/engine/base/natural_order.h"

namespace tidemark::test {
namespace {

using Bytes = std::map<std::string, std::int64_t>;

// What a diff compares of one device of one tape.
struct Side {
  std::int64_t peak = 0;
  Bytes categories, scopes, ops;
};

Side slow_side(const SlowRun& run, const std::string& device) {
  Side side;
  for (std::size_t d = 0; d < run.device_count(); ++d) {
    if (run.device_name(d) != device) continue;
    for (const SlowSpan& span : run.spans) {
      std::int64_t& peak = side.scopes[std::string(run.tape.tables().scope_path(span.scope))];
      peak = std::max(peak, slow_peak_inside(run, span, d).allocated);
    }
    const auto event = slow_peak_event(run, d);
    if (!event) continue;
    const std::int64_t end = slow_end_of_peak(run, d, *event);
    const SlowMoment& moment = run.moments[static_cast<std::size_t>(end)];
    side.peak = moment.rows[d].allocated;
    for (auto [category, bytes] : moment.rows[d].categories)
      side.categories[std::string(name_of(category))] = bytes;
    for (const auto& [storage, one] : moment.alive) {
      if (one.device != d) continue;
      const Event born = run.tape[static_cast<std::size_t>(one.born)];
      const std::string op(run.tape.tables().op_name(born.call));
      side.ops[op.empty() ? "(none)" : op] += one.allocated;
    }
  }
  return side;
}

// Each name with its two sizes, where they differ (or, for categories, where either has bytes).
using Pairs = std::map<std::string, std::pair<std::int64_t, std::int64_t>>;

Pairs pairs_of(const Bytes& before, const Bytes& after, bool only_changes) {
  Pairs pairs;
  for (const auto& [name, bytes] : before) pairs[name].first = bytes;
  for (const auto& [name, bytes] : after) pairs[name].second = bytes;
  std::erase_if(pairs, [&](const auto& entry) {
    const auto [a, b] = entry.second;
    return only_changes ? a == b : a == 0 && b == 0;
  });
  return pairs;
}

void expect_differences(const std::vector<Difference>& found, const Pairs& slow, bool is_sorted,
                        const char* what) {
  Pairs pairs;
  for (std::size_t i = 0; i < found.size(); ++i) {
    pairs[found[i].name] = {found[i].before, found[i].after};
    if (!is_sorted || i == 0) continue;
    const auto size = [](const Difference& d) { return std::abs(d.after - d.before); };
    const std::int64_t above = size(found[i - 1]), here = size(found[i]);
    expect(above > here || (above == here && natural_less(found[i - 1].name, found[i].name)), what,
           " out of order");
  }
  expect(pairs == slow && found.size() == slow.size(), what, " differ from the slow ones");
}

void a_diff_equals_a_slow_one(const Sample& sample) {
  const Tape other = random_tape(sample.seed * 31 + 7, 60);  // short: replaying it slowly costs
  const SlowRun other_slow(other);
  DiffOptions options;
  options.top = 1000;
  const DiffAnswer answer = find_diff(sample.tape, other, options);
  std::set<std::string> devices;
  for (std::size_t d = 0; d < sample.slow.device_count(); ++d)
    devices.insert(sample.slow.device_name(d));
  for (std::size_t d = 0; d < other_slow.device_count(); ++d)
    devices.insert(other_slow.device_name(d));
  bool is_same = true;
  for (const std::string& device : devices) {
    const Side before = slow_side(sample.slow, device), after = slow_side(other_slow, device);
    is_same = is_same && before.peak == after.peak && before.categories == after.categories &&
              pairs_of(before.scopes, after.scopes, true).empty() &&
              pairs_of(before.ops, after.ops, true).empty();
    const auto found = std::find_if(answer.devices.begin(), answer.devices.end(),
                                    [&](const DeviceDiff& d) { return d.device == device; });
    if (found == answer.devices.end()) {
      expect(before.peak == 0 && after.peak == 0, "a device is missing: ", device);
      continue;
    }
    expect_equal(found->peak.before, before.peak, "peak before");
    expect_equal(found->peak.after, after.peak, "peak after");
    expect_differences(found->categories, pairs_of(before.categories, after.categories, false),
                       false, "categories");
    expect_differences(found->scopes, pairs_of(before.scopes, after.scopes, true), true, "scopes");
    expect_differences(found->ops, pairs_of(before.ops, after.ops, true), true, "operators");
  }
  expect_equal(answer.same, is_same, "same");
}

void a_tape_is_the_same_as_itself(const Sample& sample) {
  expect(find_diff(sample.tape, sample.tape).same, "a tape differs from itself");
}

}  // namespace

std::vector<Property> diff_properties() {
  return {{"a diff equals a slow one", a_diff_equals_a_slow_one},
          {"a tape is the same as itself", a_tape_is_the_same_as_itself}};
}

}  // namespace tidemark::test
