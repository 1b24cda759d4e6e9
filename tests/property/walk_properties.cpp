// Properties of one walk for many: observers do not disturb each other.
#include "tests/property/properties.h"
#include "tidemark/engine/analyses/leaks.h"
#include "tidemark/engine/analyses/lifetimes.h"
#include "tidemark/engine/analyses/peak.h"
#include "tidemark/engine/analyses/scopes.h"
#include "tidemark/engine/analyses/timeline.h"

namespace tidemark::test {
namespace {

void one_walk_gives_what_many_walks_give(const Sample& sample) {
  const Tape& tape = sample.tape;
  TimelineOptions in_columns;
  in_columns.columns = 1 + sample.choices().below(12);
  const auto [peak, scopes, timeline, lifetimes, leaks] =
      feed(tape, PeakObserver(), ScopesObserver(), timeline_observer(tape, in_columns),
           LifetimesObserver(), LeaksObserver());
  expect(peak == find_peak(tape), "peak");
  expect(scopes == find_scopes(tape), "scopes");
  expect(timeline == find_timeline(tape, in_columns), "timeline");
  expect(lifetimes == find_lifetimes(tape), "lifetimes");
  expect(leaks == find_leaks(tape), "leaks");
}

struct Nobody {
  static constexpr Needs kNeeds = {};
  void see(const Event&, const Change&, const Replay&) const {}
};

// By requested bytes nothing is rounded: then both columns of a row are one.
void the_accounting_decides_what_is_charged(const Sample& sample) {
  Replay replay(sample.tape.tables(), AccountingRule::Requested);
  Nobody nobody;
  for (std::size_t i = 0; i < sample.tape.size(); ++i) {
    replay.add(sample.tape[i], nobody);
    for (std::size_t d = 0; d < sample.slow.device_count(); ++d) {
      const LedgerRow& row = replay.ledger().row(device_numbered(d));
      expect_equal(row.allocated, sample.slow.moments[i].rows[d].requested, "charged at ", i);
      expect_equal(row.requested, row.allocated, "requested at ", i);
    }
  }
}

}  // namespace

std::vector<Property> walk_properties() {
  return {{"one walk gives what many walks give", one_walk_gives_what_many_walks_give},
          {"the accounting decides what is charged", the_accounting_decides_what_is_charged}};
}

}  // namespace tidemark::test
