// The first look: verdict, budget, what the peak is made of, timeline, lines, modules, caveats.
#include <algorithm>

#include "tidemark/engine/base/utf8.h"
#include "tidemark/engine/reports/layout.h"
#include "tidemark/engine/reports/text_parts.h"

namespace tidemark {
namespace {

// How many rows each list may have where the whole must stay short.
struct Lengths {
  std::size_t lines = SIZE_MAX, sites = SIZE_MAX, devices = SIZE_MAX, notes = SIZE_MAX;
  std::size_t categories = SIZE_MAX, chart_rows = 8;
};

Lengths lengths_for(const TextStyle& style, const std::vector<DevicePeak>& devices) {
  Lengths lengths;
  const bool is_brief = style.detail != Detail::Full;
  if (is_brief)
    lengths = {.lines = 3, .sites = 3, .devices = 1, .notes = 2, .categories = 5, .chart_rows = 6};
  if (style.rows > 0) lengths.lines = lengths.sites = style.rows;
  // Room for a sentence more.
  if (is_brief && !devices.empty() && has_gathered(devices.front())) {
    lengths.chart_rows = 4;
    lengths.sites = std::min<std::size_t>(lengths.sites, 2);
  }
  return lengths;
}

std::string seconds_words(double seconds) {
  return format_duration(static_cast<std::int64_t>(seconds * 1e9));
}

// A step goes from a forward to the end of an optimizer's step: two optimizers that take turns make
// two of every batch, and what comes after the last one may have begun another.
std::string steps_words(const Overview& answer) {
  const std::int64_t done = answer.run.steps.value_or(answer.steps);
  std::string words = counted(done, "step");
  if (answer.run.optimizers > 1) words += " of " + counted(answer.run.optimizers, "optimizer");
  if (done == 0 && answer.steps > 0) return "a step that did not end";
  if (answer.steps > done) words += " and the begin of another";
  return words;
}

// "2 steps, 9 812 events, 2 835 operators in 5.60 s, torch 2.13.0, rank 0 of 8; model: gpt"
void add_run(Page& page, const Overview& answer) {
  const RunFacts& run = answer.run;
  std::string facts = steps_words(answer) + ", " + counted(answer.events, "event");
  if (run.ops > 0) facts += ", " + counted(run.ops, "operator");
  if (run.wall_seconds > 0) facts += " in " + seconds_words(run.wall_seconds);
  if (!run.torch_version.empty()) facts += ", torch " + printable(run.torch_version);
  if (run.world_size > 1)
    facts += ", rank " + std::to_string(run.rank) + " of " + std::to_string(run.world_size);
  for (const auto& [key, value] : answer.meta)
    facts +=
        "; " + elided(printable(key), page.width()) + ": " + elided(printable(value), page.width());
  page.paragraph(facts, 0, 0, Ink::Dim);
}

// What it did can be judged, whatever the judgement.
bool was_seen_through(const RunFacts& run) {
  return run.end == RunEnd::Script || run.end == RunEnd::Steps || run.end == RunEnd::OutOfMemory;
}

void add_judgement(Page& page, const Overview& answer) {
  if (!answer.verdict) return;
  add_verdict(page, *answer.verdict);
  const Verdict verdict = answer.verdict->verdict;
  const bool is_too_much = verdict == Verdict::DoesNotFit ||
                           (verdict == Verdict::CannotTell && answer.verdict->is_uncompiled);
  if (answer.run.out_of_memory && is_too_much) add_out_of_memory(page, *answer.run.out_of_memory);
  // What was seen before a failure is no budget of anything.
  if (verdict != Verdict::CannotTell || was_seen_through(answer.run))
    add_budget(page, *answer.verdict);
  page.gap();
}

void add_not_covered(Page& page, const Overview& answer) {
  if (answer.not_covered.empty()) return;
  page.gap();
  for (const std::string& sentence : answer.not_covered)
    page.paragraph("not covered: " + printable(sentence), 0, 2);
}

// What to ask of the tape, by what the reader will want to know.
std::string next_words(const Overview& answer, const std::string& tape) {
  const Verdict verdict = answer.verdict ? answer.verdict->verdict : Verdict::Fits;
  if (verdict == Verdict::CannotTell && answer.run.end != RunEnd::Unknown) {
    if (!was_seen_through(answer.run)) return "mend what stopped the script, then estimate again";
    if (answer.verdict->device.empty())
      return "put the model and its batches on \"cuda\", then estimate again";
  }
  if (tape.empty())
    return (answer.run.kind.empty() ? "save the tape as run.tape" : "add --save run.tape") +
           std::string(", then: tidemark peak run.tape --full");
  return verdict == Verdict::Fits ? "tidemark scopes " + tape : "tidemark peak " + tape + " --full";
}

// By which calibration workspaces were told, the budget says in short.
Diagnostics notes_of(const Overview& answer, Detail detail) {
  if (detail == Detail::Full) return answer.diagnostics;
  Diagnostics notes;
  for (const Diagnostic& one : answer.diagnostics.all())
    if (one.code != "calibration")
      notes.add(one.code, one.severity, one.where, one.message, one.count);
  return notes;
}

}  // namespace

std::string text_report(const Overview& answer, const TextStyle& style) {
  Page page(style);
  const auto& devices = answer.peak.devices;
  const Lengths lengths = lengths_for(style, devices);
  add_judgement(page, answer);
  add_peak_headlines(page, answer.peak, style.detail != Detail::Full);
  add_run(page, answer);
  for (std::size_t d = 0; d < std::min(devices.size(), lengths.devices); ++d) {
    const std::string suffix = of_device(devices[d].device, devices.size());
    add_categories(page, devices[d], suffix, lengths.categories);
    if (style.detail == Detail::Full) add_gathered(page, devices[d], suffix);
    else add_gathered_sentence(page, devices[d], lengths.lines);
    add_chart(page, answer.timeline, devices[d].device, lengths.chart_rows);
    add_lines(page, devices[d], suffix, lengths.lines);
    add_module_tree(page, answer.scopes, devices[d], suffix, style.detail);
    add_sites(page, devices[d], suffix, lengths.sites);
  }
  add_not_covered(page, answer);
  add_notes(page, notes_of(answer, style.detail), lengths.notes);
  page.gap();
  page.paragraph("next: " + printable(next_words(answer, style.tape)), 0, 2, Ink::Dim);
  return page.take();
}

}  // namespace tidemark
