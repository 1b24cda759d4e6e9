// Properties of ledger, live set and scope spans.
#include <numeric>

#include "tests/property/properties.h"
#include "tests/property/slow_answers.h"
#include "tidemark/engine/replay/scope_spans.h"

namespace tidemark::test {
namespace {

void the_ledger_is_right_at_each_event(const Sample& sample) {
  Ledger ledger(sample.tape.tables());
  for (std::size_t i = 0; i < sample.tape.size(); ++i) {
    ledger.add(sample.tape[i]);
    expect_equal(ledger.now().step, sample.slow.moments[i].step, "step at event ", i);
    for (std::size_t d = 0; d < sample.slow.device_count(); ++d) {
      const LedgerRow& row = ledger.row(device_numbered(d));
      const SlowRow& slow = sample.slow.moments[i].rows[d];
      expect_equal(row.allocated, slow.allocated, "allocated at event ", i);
      expect_equal(row.requested, slow.requested, "requested at event ", i);
      expect(row.by_category == slow.as_array(), "categories at event ", i);
      expect_equal(std::accumulate(row.by_category.begin(), row.by_category.end(), std::int64_t{0}),
                   row.allocated, "sum of categories at event ", i);
    }
  }
}

void expect_same_storage(const LiveStorage& live, const SlowStorage& slow, std::size_t i) {
  expect_equal(live.state.bytes(), slow.requested, "bytes at event ", i);
  expect_equal(live.state.device().value + 0u, slow.device, "device at event ", i);
  expect(live.state.category() == slow.category, "category at event ", i);
  expect_equal(live.born.at.event, slow.born, "birth at event ", i);
}

// An observer sees the live set as its event finds it.
struct LiveSetChecker {
  static constexpr Needs kNeeds = {.live = true};
  const SlowRun& slow;

  void see(const Event&, const Change&, const Replay& replay) const {
    if (replay.now().event > 0) check(replay, static_cast<std::size_t>(replay.now().event) - 1);
  }
  void check(const Replay& replay, std::size_t event) const {
    const auto& alive = slow.moments[event].alive;
    expect_equal(replay.live().size(), alive.size(), "storages alive at event ", event);
    for (const auto& [storage, found] : alive) {
      const LiveStorage* one = replay.live().find(StorageId(storage));
      expect(one != nullptr, "storage ", storage, " missing at event ", event);
      expect_same_storage(*one, found, event);
    }
  }
};

void the_live_set_is_right_at_each_event(const Sample& sample) {
  Replay replay(sample.tape.tables());
  LiveSetChecker checker{sample.slow};
  replay.add_all(sample.tape, checker);
  if (sample.tape.size() > 0) checker.check(replay, sample.tape.size() - 1);
}

void expect_same_device(const DeviceSpan& found, const SlowRun& slow, const SlowSpan& span,
                        std::size_t device) {
  const auto row = [&](std::int64_t event) {
    return slow.moments[static_cast<std::size_t>(event)].rows[device];
  };
  expect_equal(found.before, row(span.begin).allocated, "before");
  expect_equal(found.after, row(span.end).allocated, "after");
  const SlowHigh high = slow_peak_inside(slow, span, device);
  expect_equal(found.peak.allocated, high.allocated, "peak");
  if (found.peak.allocated == 0) return;
  expect_equal(found.peak_event, high.event, "event of the peak");
  expect(found.peak.by_category == row(high.event).as_array(), "categories at the peak");
  expect_equal(found.peak.requested, row(high.event).requested, "requested at the peak");
}

void expect_same_span(const ScopeSpan& found, const SlowRun& slow, const SlowSpan& span) {
  expect(found.scope == span.scope && found.phase == span.phase, "another scope or phase ended");
  expect_equal(found.begin.event, span.begin, "begin");
  expect_equal(found.end.event, span.end, "end");
  expect_equal(found.input_bytes, span.inputs, "inputs");
  expect_equal(found.output_bytes, span.outputs, "outputs");
  std::size_t listed = 0;
  for (std::size_t d = 0; d < slow.device_count(); ++d) {
    const bool is_listed =
        listed < found.devices.size() && found.devices[listed].device == device_numbered(d);
    expect_same_device(is_listed ? found.devices[listed++] : DeviceSpan{}, slow, span, d);
  }
  expect_equal(listed, found.devices.size(), "devices listed");
}

struct SpanChecker {
  static constexpr Needs kNeeds = ScopeSpans::kNeeds;
  const SlowRun& slow;
  ScopeSpans spans;
  std::size_t ended = 0;

  void see(const Event& e, const Change& change, const Replay& replay) {
    if (const ScopeSpan* span = spans.look(e, change, replay)) check(*span);
  }
  void check(const ScopeSpan& span) {
    expect(ended < slow.spans.size(), "too many spans");
    expect_same_span(span, slow, slow.spans[ended++]);
  }
};

void every_scope_has_its_own_peak(const Sample& sample) {
  Replay replay(sample.tape.tables());
  SpanChecker checker{sample.slow, {}};
  replay.add_all(sample.tape, checker);
  const OpenCalls& open = replay.scopes().open();
  for (auto call = open.newest(); call != OpenCalls::kNone; call = open.older(call))
    checker.check(*checker.spans.end(call, replay));
  expect_equal(checker.ended, sample.slow.spans.size(), "spans");
}

}  // namespace

std::vector<Property> replay_properties() {
  return {{"the ledger is right at each event", the_ledger_is_right_at_each_event},
          {"the live set is right at each event", the_live_set_is_right_at_each_event},
          {"every scope has its own peak", every_scope_has_its_own_peak}};
}

}  // namespace tidemark::test
