// Properties of scopes: calls, sums, parameters, order.
#include <algorithm>
#include <map>
#include <set>

#include "tests/property/properties.h"
#include "tests/property/slow_answers.h"
#include "tidemark/engine/analyses/scopes.h"
#include "tidemark/engine/base/natural_order.h"

namespace tidemark::test {
namespace {

using Key = std::pair<std::string, Phase>;

std::string path_of(const SlowRun& run, ScopeId scope) {
  return std::string(run.tape.tables().scope_path(scope));
}

// "a.b.c" with "a.b" and "a", as the tables made parents of them.
std::vector<std::string> with_parents(const Tables& tables, const std::string& path) {
  std::vector<std::string> paths;
  for (std::size_t s = 0; s < tables.scopes().size(); ++s) {
    ScopeId id(static_cast<std::uint32_t>(s));
    if (tables.scope_path(id) != path) continue;
    for (; id; id = tables.scopes()[id.value].parent) paths.emplace_back(tables.scope_path(id));
  }
  return paths;
}

// Requested bytes of a category by the scope that labelled each storage last.
std::map<std::string, std::int64_t> slow_owned(const SlowRun& run, Category category) {
  struct Owned {
    ScopeId scope;
    std::int64_t bytes = 0;
  };
  std::map<std::uint32_t, Owned> owned;
  for (std::size_t i = 0; i < run.moments.size(); ++i) {
    const Event e = run.tape[i];
    auto one = run.moments[i].alive.find(e.subject);
    if (!changes_storage(e.kind) || e.kind == Kind::Block) continue;
    if (one == run.moments[i].alive.end()) continue;
    if (one->second.category != category) continue;
    Owned& owner = owned[e.subject];
    if (e.kind == Kind::Resize) owner.bytes = std::max(owner.bytes, one->second.requested);
    else owner = {e.scope, one->second.requested};
  }
  std::map<std::string, std::int64_t> sums;
  for (const auto& [storage, owner] : owned)
    if (owner.scope && owner.bytes > 0)
      for (const std::string& path : with_parents(run.tape.tables(), path_of(run, owner.scope)))
        sums[path] += owner.bytes;
  return sums;
}

std::map<Key, std::vector<SlowSpan>> slow_calls(const SlowRun& run,
                                                const std::optional<std::int64_t>& step) {
  std::map<Key, std::vector<SlowSpan>> calls;
  for (const SlowSpan& span : run.spans)
    if (is_in_step(run, span.begin, step))
      calls[{path_of(run, span.scope), span.phase}].push_back(span);
  return calls;
}

void expect_device(const ScopeBytes& found, const SlowRun& run, const std::vector<SlowSpan>& calls,
                   std::size_t device) {
  const auto level = [&](std::int64_t event) {
    return run.moments[static_cast<std::size_t>(event)].rows[device].allocated;
  };
  const SlowSpan& first = *std::min_element(calls.begin(), calls.end(),
                                            [](auto& a, auto& b) { return a.begin < b.begin; });
  SlowHigh peak;
  std::int64_t grown = 0;
  for (const SlowSpan& call : calls) {
    const SlowHigh high = slow_peak_inside(run, call, device);
    const bool is_first = high.allocated == peak.allocated && high.event < peak.event;
    if (high.allocated > peak.allocated || is_first) peak = high;
    grown += level(call.end) - level(call.begin);
  }
  expect_equal(found.before, level(first.begin), "before");
  expect_equal(found.after, level(calls.back().end), "after");
  expect_equal(found.peak, peak.allocated, "peak");
  expect_equal(found.grown, grown, "grown");
  if (found.peak == 0) return;
  expect_equal(found.peak_event, peak.event, "event of the peak");
  const SlowRow& row = run.moments[static_cast<std::size_t>(peak.event)].rows[device];
  expect(found.peak_categories == row.as_array(), "categories at the peak");
}

void expect_calls(const ScopeCalls& found, const SlowRun& run, const std::vector<SlowSpan>& calls,
                  const Selection& selection) {
  std::int64_t inputs = 0, outputs = 0, first = INT64_MAX;
  for (const SlowSpan& call : calls) {
    inputs += call.inputs;
    outputs += call.outputs;
    first = std::min(first, call.begin);
  }
  expect_equal(found.calls, static_cast<std::int64_t>(calls.size()), "calls");
  expect_equal(found.first_event, first, "first event");
  expect_equal(found.last_event, calls.back().end, "last event");
  expect_equal(found.input_bytes, inputs, "inputs");
  expect_equal(found.output_bytes, outputs, "outputs");
  std::size_t listed = 0;
  for (std::size_t d = 0; d < run.device_count(); ++d) {
    const std::string& name = run.device_name(d);
    const auto one = std::find_if(found.devices.begin(), found.devices.end(),
                                  [&](const ScopeBytes& b) { return b.device == name; });
    const bool is_chosen = !selection.device || *selection.device == name;
    if (one != found.devices.end()) {
      expect(is_chosen, "a device that was not chosen");
      ++listed;
    }
    if (is_chosen) expect_device(one == found.devices.end() ? ScopeBytes{} : *one, run, calls, d);
  }
  expect_equal(found.devices.size(), listed, "devices");
}

// Which of the scope's calls in this phase it is, counting ends from 1, all steps included.
std::int64_t number_of(const SlowRun& run, const SlowSpan& call) {
  std::int64_t number = 0;
  for (const SlowSpan& span : run.spans) {
    if (span.scope == call.scope && span.phase == call.phase) ++number;
    if (span.begin == call.begin) break;
  }
  return number;
}

void scopes_equal_slow_ones(const Sample& sample) {
  Random choices = sample.choices();
  ScopesOptions options;
  static_cast<Selection&>(options) = random_selection(choices, sample.tape);
  options.per_call = choices.chance(0.5);
  const ScopesAnswer answer = find_scopes(sample.tape, options);
  const auto calls = slow_calls(sample.slow, options.step);
  auto parameters = slow_owned(sample.slow, Category::Parameter);
  auto buffers = slow_owned(sample.slow, Category::Buffer);
  std::size_t phases = 0;
  for (const ScopeFacts& scope : answer.scopes) {
    expect_equal(scope.parameter_bytes, parameters[scope.path], "parameters of ", scope.path);
    expect_equal(scope.buffer_bytes, buffers[scope.path], "buffers of ", scope.path);
    std::size_t single = 0;
    for (const ScopeCalls& phase : scope.phases) {
      auto slow = calls.find({scope.path, phase.phase});
      expect(slow != calls.end(), "a phase without calls in ", scope.path);
      expect_calls(phase, sample.slow, slow->second, options);
      expect_equal(phase.first_call, number_of(sample.slow, slow->second.front()), "first call");
      single += slow->second.size();
      ++phases;
    }
    expect_equal(scope.calls.size(), options.per_call ? single : 0, "single calls");
    for (const ScopeCalls& call : scope.calls)
      for (const SlowSpan& span : sample.slow.spans)
        if (span.begin == call.first_event) {
          expect_calls(call, sample.slow, {span}, options);
          expect_equal(call.first_call, number_of(sample.slow, span), "number of the call");
        }
  }
  expect_equal(phases, calls.size(), "phases of all scopes");
}

std::vector<std::string> split(const std::string& path) {
  std::vector<std::string> parts = {""};
  for (char c : path)
    if (c == '.') parts.emplace_back();
    else parts.back() += c;
  return parts;
}

bool comes_before(const std::string& a, const std::string& b) {
  const auto parts_a = split(a), parts_b = split(b);
  return std::lexicographical_compare(parts_a.begin(), parts_a.end(), parts_b.begin(),
                                      parts_b.end(), natural_less);
}

void scopes_are_listed_once_in_natural_order(const Sample& sample) {
  Random choices = sample.choices();
  ScopesOptions options;
  options.depth = choices.below(4);
  const ScopesAnswer answer = find_scopes(sample.tape, options);
  std::set<std::string> expected;
  for (const auto& [key, spans] : slow_calls(sample.slow, {}))
    for (const std::string& path : with_parents(sample.tape.tables(), key.first))
      expected.insert(path);
  for (Category category : {Category::Parameter, Category::Buffer})
    for (const auto& [path, bytes] : slow_owned(sample.slow, category)) expected.insert(path);
  std::erase_if(expected, [&](const std::string& path) {
    return options.depth > 0 && with_parents(sample.tape.tables(), path).size() > options.depth;
  });
  std::set<std::string> listed;
  for (std::size_t i = 0; i < answer.scopes.size(); ++i) {
    expect(listed.insert(answer.scopes[i].path).second, "listed twice: ", answer.scopes[i].path);
    expect(i == 0 || comes_before(answer.scopes[i - 1].path, answer.scopes[i].path),
           answer.scopes[i].path, " is out of order");
  }
  expect(listed == expected, "other scopes are listed");
}

}  // namespace

std::vector<Property> scopes_properties() {
  return {{"scopes equal slow ones", scopes_equal_slow_ones},
          {"scopes are listed once in natural order", scopes_are_listed_once_in_natural_order}};
}

}  // namespace tidemark::test
