// Properties of accumulators fed while the tape is being written.
#include "tests/property/properties.h"
#include "tidemark/engine/analyses/leaks.h"
#include "tidemark/engine/analyses/lifetimes.h"
#include "tidemark/engine/analyses/peak.h"
#include "tidemark/engine/analyses/scopes.h"
#include "tidemark/engine/analyses/timeline.h"
#include "tidemark/engine/reports/json.h"

namespace tidemark::test {
namespace {

// Asking in the middle must give the answer of the tape so far, and disturb nothing. Reports are
// compared, since they have every field of an answer.
template <class Accumulator, class Find>
void check_live(const Sample& sample, Find find) {
  const std::size_t middle = sample.choices().below(sample.tape.size() + 1);
  TapeBuilder builder;
  Accumulator live(builder.tables());
  write_random_tape(builder, sample.seed, [&] {
    live.add(builder.last());
    if (builder.size() != middle) return;
    const Tape so_far = random_tape(sample.seed, middle);
    expect_equal(json_report(live.answer()), json_report(find(so_far)), "in the middle");
  });
  expect_equal(json_report(live.answer()), json_report(find(sample.tape)), "at the end");
}

// One question a tape: writing the reports takes longer than all other properties together.
void live_answers_are_those_of_the_tape_so_far(const Sample& sample) {
  switch (sample.seed % 5) {
    case 0: return check_live<PeakAccumulator>(sample, [](auto& t) { return find_peak(t); });
    case 1: return check_live<ScopesAccumulator>(sample, [](auto& t) { return find_scopes(t); });
    case 2:
      return check_live<TimelineAccumulator>(sample, [](auto& t) { return find_timeline(t); });
    case 3:
      return check_live<LifetimesAccumulator>(sample, [](auto& t) { return find_lifetimes(t); });
    default: return check_live<LeaksAccumulator>(sample, [](auto& t) { return find_leaks(t); });
  }
}

}  // namespace

std::vector<Property> live_properties() {
  return {{"live answers are those of the tape so far", live_answers_are_those_of_the_tape_so_far}};
}

}  // namespace tidemark::test
