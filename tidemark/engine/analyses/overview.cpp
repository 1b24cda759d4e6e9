// Asks the three questions of a first look.
#include "tidemark/engine/analyses/overview.h"

namespace tidemark {
namespace {

template <class Options>
Options narrowed(const Selection& selection) {
  Options options;
  static_cast<Selection&>(options) = selection;
  return options;
}

// Each code once: every analysis meets the same double free.
void add_new(Diagnostics& all, const Diagnostics& some) {
  for (const Diagnostic& d : some.all())
    if (!all.find(d.code)) all.add(d.code, d.severity, d.where, d.message, d.count);
}

}  // namespace

Overview find_overview(const Tape& tape, const OverviewOptions& options) {
  auto peak = narrowed<PeakOptions>(options);
  peak.top = options.top;
  auto scopes = narrowed<ScopesOptions>(options);
  scopes.depth = options.depth;
  auto timeline = narrowed<TimelineOptions>(options);
  timeline.columns = options.columns;

  Overview overview{.meta = tape.tables().meta(),
                    .events = static_cast<std::int64_t>(tape.size()),
                    .steps = tape.step_count(),
                    .peak = find_peak(tape, peak),
                    .scopes = find_scopes(tape, scopes),
                    .timeline = find_timeline(tape, timeline)};
  // Scopes first: they count problems that the others do not see.
  add_new(overview.diagnostics, overview.scopes.diagnostics);
  add_new(overview.diagnostics, overview.peak.diagnostics);
  add_new(overview.diagnostics, overview.timeline.diagnostics);
  return overview;
}

}  // namespace tidemark
