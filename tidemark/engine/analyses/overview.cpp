// Asks the three questions of a first look, in one walk.
#include "tidemark/engine/analyses/overview.h"

#include <algorithm>
#include <tuple>

#include "tidemark/engine/analyses/run_facts.h"
#include "tidemark/engine/analyses/verdict.h"
#include "tidemark/engine/base/units.h"

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

// The keys that RunFacts has read; the rest is the user's own.
bool is_about_the_run(const std::string& key) {
  return key.starts_with("run.") || key.starts_with("gpu.") || key.starts_with("oom.") ||
         key.starts_with("used.");
}

// What a run that was ended after its steps cannot know.
std::string find_later(const RunFacts& run) {
  const std::string all = "everything after step " + std::to_string(run.steps.value_or(0));
  if (!run.later_failure.empty())
    return all + ", where the script failed on virtual GPUs: " + run.later_failure;
  const std::string which = all + ": validation, saving, longer batches (";
  if (run.further_seconds <= 0) return which + "--steps 0 runs to the script's end)";
  return which + "it was ended " +
         format_duration(static_cast<std::int64_t>(run.further_seconds * 1e9)) +
         " after the wanted steps; --further SECONDS gives it longer)";
}

std::vector<std::string> find_not_covered(const RunFacts& run) {
  std::vector<std::string> sentences;
  if (run.kind.empty()) return sentences;
  if (run.end == RunEnd::Steps) sentences.push_back(find_later(run));
  if (run.end == RunEnd::Script && run.steps == 0)
    sentences.push_back("training: the script ended without a step of an optimizer");
  return sentences;
}

// The device that decides stands first, the others as the tape has them.
void put_first(PeakAnswer& peak, const std::string& device) {
  const auto found = std::find_if(peak.devices.begin(), peak.devices.end(),
                                  [&](const DevicePeak& one) { return one.device == device; });
  if (found != peak.devices.end()) std::rotate(peak.devices.begin(), found, found + 1);
}

}  // namespace

Overview find_overview(const Tape& tape, const OverviewOptions& options) {
  auto peak = narrowed<PeakOptions>(options);
  peak.top = options.top;
  peak.depth = options.depth;
  auto scopes = narrowed<ScopesOptions>(options);
  scopes.depth = options.depth;
  auto timeline = narrowed<TimelineOptions>(options);
  timeline.columns = options.columns;

  check_selection(options, tape);
  Overview overview{.run = find_run_facts(tape),
                    .events = static_cast<std::int64_t>(tape.size()),
                    .steps = tape.step_count()};
  std::tie(overview.peak, overview.scopes, overview.timeline) =
      feed(tape, PeakObserver(peak), ScopesObserver(scopes), timeline_observer(tape, timeline));
  if (options.gpu) overview.run.gpu = *options.gpu;
  overview.verdict =
      judge(overview.run, overview.peak,
            find_torch_counts(tape, overview.run, overview.peak, overview.diagnostics));
  if (overview.verdict) put_first(overview.peak, overview.verdict->device);
  overview.not_covered = find_not_covered(overview.run);
  for (const auto& [key, value] : tape.tables().meta())
    if (!is_about_the_run(key)) overview.meta.emplace(key, value);
  // Scopes first: they count problems that the others do not see.
  add_new(overview.diagnostics, overview.scopes.diagnostics);
  add_new(overview.diagnostics, overview.peak.diagnostics);
  add_new(overview.diagnostics, overview.timeline.diagnostics);
  return overview;
}

}  // namespace tidemark
