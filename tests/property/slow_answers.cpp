// Scans of the slow run's moments.
#include "tests/property/slow_answers.h"

#include "tests/property/check.h"

namespace tidemark::test {

bool is_in_step(const SlowRun& run, std::int64_t event, const std::optional<std::int64_t>& step) {
  return !step || run.moments[static_cast<std::size_t>(event)].step == *step;
}

std::optional<std::int64_t> slow_peak_event(const SlowRun& run, std::size_t device,
                                            const std::optional<std::int64_t>& step) {
  std::optional<std::int64_t> best;
  std::int64_t highest = 0;
  for (std::size_t i = 0; i < run.moments.size(); ++i) {
    const std::int64_t total = run.moments[i].rows[device].allocated;
    const auto event = static_cast<std::int64_t>(i);
    if (total <= highest || !is_in_step(run, event, step)) continue;
    highest = total;
    best = event;
  }
  return best;
}

namespace {

bool holds(const SlowRun& run, std::size_t event, std::size_t device, std::uint32_t storage) {
  const auto& alive = run.moments[event].alive;
  return alive.contains(storage) && alive.at(storage).device == device;
}

}  // namespace

std::int64_t slow_end_of_peak(const SlowRun& run, std::size_t device, std::int64_t peak_event,
                              const std::optional<std::int64_t>& step) {
  auto last = static_cast<std::size_t>(peak_event);
  for (std::size_t i = last + 1; i < run.moments.size(); ++i) {
    const Event e = run.tape[i];
    const bool is_sized = e.kind == Kind::Alloc || e.kind == Kind::Free || e.kind == Kind::Resize ||
                          e.kind == Kind::Block;
    if (is_sized && (holds(run, i - 1, device, e.subject) || holds(run, i, device, e.subject)))
      break;
    if (!is_in_step(run, static_cast<std::int64_t>(i), step)) break;
    last = i;
  }
  return static_cast<std::int64_t>(last);
}

SlowHigh slow_peak_inside(const SlowRun& run, const SlowSpan& span, std::size_t device) {
  SlowHigh high{span.begin, 0};
  for (std::int64_t i = span.begin; i <= span.end; ++i) {
    const std::int64_t total = run.moments[static_cast<std::size_t>(i)].rows[device].allocated;
    if (total > high.allocated) high = {i, total};
  }
  return high;
}

void expect_when(const When& found, const SlowRun& run, std::int64_t event) {
  const auto i = static_cast<std::size_t>(event);
  const Event e = run.tape[i];
  const Tables& tables = run.tape.tables();
  expect_equal(found.event, event, "event");
  expect_equal(found.time_ns, e.time_ns, "time at event ", event);
  expect_equal(found.step, run.moments[i].step, "step at event ", event);
  expect(found.phase == e.phase, "phase at event ", event);
  expect_equal(found.scope, tables.scope_path(e.scope), "scope at event ", event);
  expect_equal(found.op, tables.op_name(e.call), "operator at event ", event);
  expect_equal(found.source, tables.source(e.stack), "source at event ", event);
}

Selection random_selection(Random& choices, const Tape& tape) {
  Selection selection;
  if (!tape.tables().devices().empty() && choices.chance(0.3))
    selection.device = choices.pick(tape.tables().devices()).name;
  if (choices.chance(0.3))
    selection.step =
        static_cast<std::int64_t>(choices.below(static_cast<std::uint64_t>(tape.step_count()) + 1));
  return selection;
}

}  // namespace tidemark::test
