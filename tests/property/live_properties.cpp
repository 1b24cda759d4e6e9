// Properties of accumulators fed while the tape is being written.
#include "property/properties.h"
#include "tidemark/reports/json.h"

namespace tidemark::test {
namespace {

// Every accumulator, on the tables of a builder that is still writing.
struct LiveQuestions {
  PeakAccumulator peak;
  ScopesAccumulator scopes;
  TimelineAccumulator timeline;
  LifetimesAccumulator lifetimes;
  LeaksAccumulator leaks;

  explicit LiveQuestions(const Tables& tables)
      : peak(tables), scopes(tables), timeline(tables), lifetimes(tables), leaks(tables) {}

  void add(const Event& e) {
    peak.add(e);
    scopes.add(e);
    timeline.add(e);
    lifetimes.add(e);
    leaks.add(e);
  }
};

// The report has every field of the answer.
template <class Answer>
void expect_same(const Answer& live, const Answer& finished, const char* what) {
  expect_equal(json_report(live), json_report(finished), what);
}

void expect_answers_of(const LiveQuestions& live, const Tape& tape) {
  expect_same(live.peak.answer(), find_peak(tape), "peak");
  expect_same(live.scopes.answer(), find_scopes(tape), "scopes");
  expect_same(live.timeline.answer(), find_timeline(tape), "timeline");
  expect_same(live.lifetimes.answer(), find_lifetimes(tape), "lifetimes");
  expect_same(live.leaks.answer(), find_leaks(tape), "leaks");
}

// Asking in the middle must give the answer of the tape so far, and disturb nothing.
void live_answers_are_those_of_the_tape_so_far(const Sample& sample) {
  const std::size_t middle = sample.choices().below(sample.tape.size() + 1);
  TapeBuilder builder;
  LiveQuestions live(builder.tables());
  write_random_tape(builder, sample.seed, [&] {
    live.add(builder.last());
    if (builder.size() == middle) expect_answers_of(live, random_tape(sample.seed, middle));
  });
  expect_answers_of(live, sample.tape);
}

}  // namespace

std::vector<Property> live_properties() {
  return {{"live answers are those of the tape so far", live_answers_are_those_of_the_tape_so_far}};
}

}  // namespace tidemark::test
