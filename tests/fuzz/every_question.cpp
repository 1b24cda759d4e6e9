// Every analysis, narrowed and whole, and every report of its answer.
#include "tests/fuzz/every_question.h"

#include "tidemark/engine/analyses/alloc.h"
#include "tidemark/engine/analyses/diff.h"
#include "tidemark/engine/analyses/leaks.h"
#include "tidemark/engine/analyses/lifetimes.h"
#include "tidemark/engine/analyses/overview.h"
#include "tidemark/engine/analyses/peak.h"
#include "tidemark/engine/analyses/scopes.h"
#include "tidemark/engine/analyses/timeline.h"
#include "tidemark/engine/replay/verify.h"
#include "tidemark/engine/reports/json.h"
#include "tidemark/engine/reports/text.h"

namespace tidemark::test {
namespace {

template <class Answer>
void report(const Answer& answer) {
  static_cast<void>(text_report(answer));
  static_cast<void>(json_report(answer));
}

}  // namespace

void ask_every_question(const Tape& tape) {
  report(verify(tape));
  report(find_overview(tape));
  report(find_peak(tape));
  report(find_lifetimes(tape));
  report(find_leaks(tape));
  report(find_alloc(tape));
  report(find_diff(tape, tape));

  ScopesOptions scopes;
  scopes.per_call = true;
  report(find_scopes(tape, scopes));
  TimelineOptions timeline;
  report(find_timeline(tape, timeline));
  timeline.axis = TimelineAxis::Time;
  timeline.columns = 7;
  report(find_timeline(tape, timeline));

  OverviewOptions last_step;
  last_step.step = tape.step_count();
  report(find_overview(tape, last_step));
}

}  // namespace tidemark::test
