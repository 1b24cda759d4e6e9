// Properties of ledger, live set and scope spans.
#include <numeric>

#include "tests/property/properties.h"
#include "tests/property/slow_answers.h"
#include "tidemark/engine/replay/live_set.h"
#include "tidemark/engine/replay/scope_spans.h"

namespace tidemark::test {
namespace {

DeviceId device_numbered(std::size_t d) { return DeviceId(static_cast<DeviceId::rep>(d)); }

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
  expect_equal(live.state.bytes, slow.requested, "bytes at event ", i);
  expect_equal(live.state.device.value + 0u, slow.device, "device at event ", i);
  expect(live.state.category == slow.category, "category at event ", i);
  expect_equal(live.born.at.event, slow.born, "birth at event ", i);
}

void the_live_set_is_right_at_each_event(const Sample& sample) {
  Ledger ledger(sample.tape.tables());
  LiveSet live;
  for (std::size_t i = 0; i < sample.tape.size(); ++i) {
    const StorageChange change = ledger.add(sample.tape[i]);
    live.add(sample.tape[i], change, ledger.now());
    const auto& alive = sample.slow.moments[i].alive;
    expect_equal(live.all().size(), alive.size(), "storages alive at event ", i);
    for (const auto& [storage, slow] : alive) {
      const LiveStorage* one = live.find(StorageId(storage));
      expect(one != nullptr, "storage ", storage, " missing at event ", i);
      expect_same_storage(*one, slow, i);
    }
  }
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

void every_scope_has_its_own_peak(const Sample& sample) {
  Ledger ledger(sample.tape.tables());
  ScopeSpans spans;
  std::size_t ended = 0;
  const auto check = [&](const ScopeSpan& span) {
    expect(ended < sample.slow.spans.size(), "too many spans");
    expect_same_span(span, sample.slow, sample.slow.spans[ended++]);
  };
  for (std::size_t i = 0; i < sample.tape.size(); ++i) {
    const StorageChange change = ledger.add(sample.tape[i]);
    if (const ScopeSpan* span = spans.add(sample.tape[i], change, ledger)) check(*span);
  }
  while (const ScopeSpan* span = spans.end_next_open(ledger)) check(*span);
  expect_equal(ended, sample.slow.spans.size(), "spans");
  expect_equal(spans.open_count(), 0u, "open spans left");
}

}  // namespace

std::vector<Property> replay_properties() {
  return {{"the ledger is right at each event", the_ledger_is_right_at_each_event},
          {"the live set is right at each event", the_live_set_is_right_at_each_event},
          {"every scope has its own peak", every_scope_has_its_own_peak}};
}

}  // namespace tidemark::test
