// Each answer as text: what it says, and that it fits, whatever the names and sizes.
#include "tidemark/engine/reports/text.h"

#include <gtest/gtest.h>

#include <sstream>

#include "tests/support/numbers.h"
#include "tidemark/engine/answers/diff.h"
#include "tidemark/engine/answers/leaks.h"
#include "tidemark/engine/answers/lifetimes.h"
#include "tidemark/engine/answers/overview.h"
#include "tidemark/engine/base/utf8.h"

namespace tidemark {
namespace {

using test::index_of;
using test::kMiB;

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

bool says(const std::string& text, const std::string& words) {
  return text.find(words) != std::string::npos;
}

// Cuts every sequence from escape to "m".
std::string without_ink(std::string text) {
  for (std::size_t at; (at = text.find('\x1b')) != std::string::npos;)
    text.erase(at, text.find('m', at) - at + 1);
  return text;
}

// One device, 4 MiB at the peak: three quarters activations, one quarter parameters.
PeakAnswer small_peak(const std::string& name = "layers.3.mlp") {
  DevicePeak peak{.device = "cuda:0", .allocated_bytes = 4 * kMiB, .requested_bytes = 3 * kMiB};
  peak.at = {12, 1'500, 2, Phase::Backward, name, "aten::mm", "train.py:41"};
  peak.categories[index_of(Category::Activation)] = 3 * kMiB;
  peak.categories[index_of(Category::Parameter)] = kMiB;
  peak.alive_count = 2;
  peak.largest = {{5,
                   3 * kMiB,
                   2 * kMiB,
                   Category::Activation,
                   "cuda:0",
                   {8, 800, 2, Phase::Forward, name, "aten::mm", "m.py:7"}},
                  {1, kMiB, kMiB, Category::Parameter, "cuda:0", {}}};
  return {.devices = {peak}, .events = 40, .steps = 3};
}

ScopesAnswer small_scopes(std::vector<std::string> paths, std::int64_t peak = 2 * kMiB) {
  ScopesAnswer answer;
  for (std::string& path : paths) {
    ScopeBytes bytes{.device = "cuda:0", .after = peak, .peak = peak, .grown = peak};
    bytes.peak_categories[index_of(Category::Activation)] = peak;
    const ScopeCalls calls{.phase = Phase::Forward, .calls = 2, .devices = {bytes}};
    answer.scopes.push_back({.path = std::move(path), .parameter_bytes = kMiB, .phases = {calls}});
  }
  return answer;
}

TimelineAnswer small_timeline(std::int64_t bytes = 4 * kMiB) {
  TimelinePoint point{.event = 3, .step = 1, .phase = Phase::Forward, .highest = bytes};
  point.categories[index_of(Category::Activation)] = bytes;
  return {.first = 0, .last = 9, .devices = {{"cuda:0", {point}}}};
}

Diagnostics one_warning(const std::string& message = "an event is early") {
  Diagnostics diagnostics;
  diagnostics.add("time-runs-back", Severity::Warning, "event 3", message, 2);
  return diagnostics;
}

Overview overview_named(const std::string& name, std::int64_t bytes) {
  Overview answer;
  answer.meta = {{name, name}};
  answer.peak = small_peak(name);
  DevicePeak& peak = answer.peak.devices[0];
  peak.device = peak.at.op = peak.at.source = name;
  peak.allocated_bytes = peak.requested_bytes = peak.largest[0].allocated_bytes = bytes;
  peak.categories[index_of(Category::UnshardedParameter)] = bytes;
  peak.modules = {{name, bytes, peak.categories}, {"", bytes, peak.categories}};
  peak.sites = {{3, bytes, bytes, Category::Gradient, name, name, name, name}, {}};
  peak.lines = {{name, 3, bytes, peak.categories}, {}};
  answer.verdict = VerdictAnswer{.verdict = Verdict::Fits,
                                 .gpu = {name, bytes, name},
                                 .device = name,
                                 .tensor_bytes = bytes,
                                 .max_allocated_bytes = bytes,
                                 .max_reserved_bytes = bytes,
                                 .budget_bytes = bytes,
                                 .budget = {{name, bytes, Evidence::Assumed, name}}};
  answer.not_covered = {name};
  answer.scopes = small_scopes({name, name + "." + name, "other"}, bytes);
  answer.timeline = small_timeline(bytes);
  answer.timeline.devices[0].device = name;
  answer.diagnostics = one_warning(name);
  return answer;
}

// Every kind of report about things with this name and size.
std::vector<std::string> all_reports(const std::string& name, std::int64_t bytes,
                                     const TextStyle& style) {
  const Overview overview = overview_named(name, bytes);
  ScopesAnswer scopes = overview.scopes;
  scopes.scopes[0].calls = scopes.scopes[0].phases;
  const StorageFact fact = overview.peak.devices[0].largest[0];
  StorageFact elsewhere = fact;
  elsewhere.device = name;
  const LifetimesAnswer lifetimes{
      .storages = bytes,
      .groups = {{Category::Activation, LifeSpan::WithinStep, bytes, bytes, bytes, bytes}},
      .heaviest = {{fact, fact.born, bytes, bytes}, {elsewhere, {}, bytes, bytes}}};
  const LeakSite site{name, name, name, name, Category::Gradient, bytes, bytes, bytes, bytes};
  const LeaksAnswer leaks{.enough_steps = true,
                          .finished_steps = 3,
                          .leaked_bytes = bytes,
                          .sites = {site, {}},
                          .levels = {{name, 1, bytes}, {"cpu", 2, bytes}}};
  const std::vector<Difference> differences = {{name, 0, bytes}, {name, bytes, 0}};
  const DiffAnswer diff{
      .same = false, .devices = {{name, {name, bytes, 1}, differences, differences, differences}}};
  TextStyle full = style;
  full.detail = Detail::Full;
  return {text_report(overview, style),  text_report(overview.peak, style),
          text_report(overview, full),   text_report(*overview.verdict, style),
          text_report(scopes, style),    text_report(overview.timeline, style),
          text_report(lifetimes, style), text_report(leaks, style),
          text_report(diff, style),      text_report(overview.diagnostics, style)};
}

void expect_clean(const std::string& text, std::size_t width) {
  ASSERT_FALSE(text.empty());
  EXPECT_EQ(text.back(), '\n');
  EXPECT_FALSE(text.ends_with("\n\n")) << text;
  EXPECT_FALSE(says(text, "\n\n\n")) << text;
  for (const std::string& line : lines_of(text)) {
    EXPECT_LE(display_width(line), width) << line;
    EXPECT_FALSE(line.ends_with(' ')) << line;
    EXPECT_EQ(printable(line), line);
  }
}

TEST(TextReport, EveryReportFitsEveryWidth) {
  for (std::size_t width : {20u, 40u, 80u, 120u})
    for (const std::string& text : all_reports("layers.0.attn", 3 * kMiB, {.width = width}))
      expect_clean(text, width);
}

TEST(TextReport, NamesOfManyBytesAndTheLargestSizesFit) {
  const std::string many(100'000, 'n');
  for (const std::string& text : all_reports(many, INT64_MAX, {.units = Units::B}))
    expect_clean(text, 80);
  for (std::size_t width : {20u, 40u, 120u})
    for (const std::string& text :
         all_reports(many.substr(0, 5'000), INT64_MAX, {.width = width, .units = Units::B}))
      expect_clean(text, width);
}

TEST(TextReport, ControlCharactersAndInvalidBytesNeverReachTheTerminal) {
  for (const std::string& text : all_reports("a\x1b[2J\n\t\x7f\xff\xc2\x9b.b", kMiB, {}))
    expect_clean(text, 80);
}

TEST(TextReport, ColourAddsInkAndNothingElse) {
  const auto plain = all_reports("layers.0", 3 * kMiB, {});
  const auto inked = all_reports("layers.0", 3 * kMiB, {.colour = true});
  for (std::size_t i = 0; i < plain.size(); ++i) {
    EXPECT_TRUE(says(inked[i], "\x1b[")) << inked[i];
    EXPECT_EQ(without_ink(inked[i]), plain[i]);
  }
}

TEST(TextReport, UnitsAreTheCallersChoice) {
  EXPECT_TRUE(says(text_report(small_peak(), {.units = Units::KiB}), "peak 4096.00 KiB"));
}

TEST(PeakText, TheHeadlineSaysHowMuchAndWhen) {
  const auto lines = lines_of(text_report(small_peak(), {.width = 120}));
  EXPECT_EQ(lines[0],
            "cuda:0  peak 4.00 MiB  at step 2, backward, aten::mm in layers.3.mlp (train.py:41)");
  EXPECT_EQ(lines[1], "        3.00 MiB requested, 2 storages alive, event 12, time 1.50 µs");
  EXPECT_EQ(lines[2], "3 steps, 40 events");
}

TEST(PeakText, CategoriesAreSortedByBytesWithBarsToScale) {
  const std::string text = text_report(small_peak(), {.width = 42});
  // 42 columns less indent 2, names 10, bytes 8, percent 5 and three gaps of 2 leave 11: the
  // parameters' third of that is 3.67 columns.
  EXPECT_TRUE(says(text,
                   "  Activation  3.00 MiB  75.0%  ░░░░░░░░░░░\n"
                   "  Parameter   1.00 MiB  25.0%  ████\n"))
      << text;
}

TEST(PeakText, LargestStoragesSayWhereAndWhenTheyWereBorn) {
  const std::string text = text_report(small_peak(), {});
  EXPECT_TRUE(
      says(text, "  s5  3.00 MiB  Activation  2 forward     layers.3.mlp aten::mm m.py:7\n"))
      << text;
  EXPECT_TRUE(says(text, "  s1  1.00 MiB  Parameter   before 1      -\n")) << text;
}

TEST(PeakText, SeveralDevicesAreToldApart) {
  PeakAnswer answer = small_peak();
  answer.devices.push_back(answer.devices[0]);
  answer.devices[1].device = "cpu";
  const std::string text = text_report(answer, {});
  EXPECT_TRUE(says(text, "\ncpu  peak 4.00 MiB"));
  EXPECT_TRUE(says(text, "What the peak of cuda:0 is made of"));
  EXPECT_TRUE(says(text, "Largest storages of cpu, one by one"));
}

TEST(ScopesText, ModulesAreATreeBelowTheirParents) {
  const std::string text =
      text_report(small_scopes({"model", "model.layers.0", "model.layers.0.fc", "model2"}), {});
  EXPECT_TRUE(says(text,
                   "  module        params  forward peak\n"
                   "  ──────────────────────────────────\n"
                   "  model       1.00 MiB      2.00 MiB\n"));
  EXPECT_TRUE(says(text, "\n    layers.0  "));
  EXPECT_TRUE(says(text, "\n      fc      "));
  EXPECT_TRUE(says(text, "\n  model2      "));
}

TEST(ScopesText, RecomputeHasAColumnOnlyWhereThereIsSome) {
  ScopesAnswer answer = small_scopes({"model"});
  EXPECT_FALSE(says(text_report(answer, {}), "recompute"));
  answer.scopes[0].phases.push_back(answer.scopes[0].phases[0]);
  answer.scopes[0].phases[1].phase = Phase::Recompute;
  EXPECT_TRUE(says(text_report(answer, {}), "recompute peak"));
}

TEST(OverviewText, SectionsComeInTheOrderOfTheQuestions) {
  const std::string text = text_report(overview_named("net", kMiB), {});
  std::size_t at = 0;
  for (const char* title :
       {"Fits on ", "The budget of net", "peak ", "What the peak is made of\n", "Timeline of net",
        "Source lines that own most\n", "By module", "Largest of the 2 storages alive then\n",
        "not covered: ", "Notes\n", "next: "}) {
    const std::size_t found = text.find(title);
    ASSERT_NE(found, std::string::npos) << title;
    EXPECT_GE(found, at) << title;
    at = found;
  }
}

// A run with all there is to tell: a failed request, all categories, two hundred modules, notes.
TEST(OverviewText, TheFirstLookIsAtMostSixtyLines) {
  Overview answer = overview_named("net", 64 * kMiB);
  std::vector<std::string> paths;
  for (int root = 0; root < 20; ++root)
    for (int layer = 0; layer < 10; ++layer)
      paths.push_back("net" + std::to_string(root) + ".block." + std::to_string(layer));
  answer.scopes = small_scopes(paths);
  DevicePeak& peak = answer.peak.devices[0];
  peak.categories.fill(kMiB);
  peak.modules.clear();
  for (const std::string& path : paths) peak.modules.push_back({path, 2 * kMiB, {}});
  peak.sites.resize(50, peak.sites[0]);
  peak.lines.resize(50, peak.lines[0]);
  answer.run.out_of_memory = OutOfMemory{"cuda:0", kMiB, kMiB, peak.at};
  answer.peak.devices.resize(8, DevicePeak(peak));
  answer.verdict->verdict = Verdict::DoesNotFit;
  answer.verdict->budget.resize(4, answer.verdict->budget[0]);
  for (int i = 0; i < 9; ++i)
    answer.diagnostics.add("code" + std::to_string(i), Severity::Note, "here", "a sentence");
  EXPECT_LE(lines_of(text_report(answer, {})).size(), 60u) << text_report(answer, {});
  EXPECT_GT(lines_of(text_report(answer, {.detail = Detail::Full})).size(), 200u);
}

TEST(VerdictText, SeveralGpusAreATable) {
  VerdictAnswer small{.verdict = Verdict::DoesNotFit, .gpu = {"Small", 4 * kMiB, "7.5"}};
  small.tensor_bytes = 5 * kMiB;
  small.budget_bytes = 6 * kMiB;
  EXPECT_EQ(text_report(VerdictsAnswer{.verdicts = {small}}),
            "  GPU      memory   tensors  with all else  verdict\n"
            "  ──────────────────────────────────────────────────────\n"
            "  Small  4.00 MiB  5.00 MiB       6.00 MiB  does not fit\n");
}

TEST(VerdictText, RanksAreAColumnWhereTheyDiffer) {
  VerdictAnswer first{.gpu = {"Small", 4 * kMiB, "7.5"}};
  first.world_size = 1024;
  first.ranks_alike = "0-1016";
  VerdictAnswer second = first;
  second.rank = 1017;
  second.ranks_alike = "1017";
  second.verdict = Verdict::Fits;
  EXPECT_EQ(text_report(VerdictsAnswer{.verdicts = {first, second}}),
            "  rank  like it  GPU      memory  tensors  with all else  verdict\n"
            "  ───────────────────────────────────────────────────────────────────\n"
            "     0  0-1016   Small  4.00 MiB      0 B            0 B  cannot tell\n"
            "  1017  1017     Small  4.00 MiB      0 B            0 B  fits\n");
}

TEST(PeakText, GatheredModulesAreListedLargestFirst) {
  const auto owner = [](std::string scope, Category category, std::int64_t bytes) {
    ScopeShare share{.scope = std::move(scope), .allocated_bytes = bytes};
    share.categories[static_cast<std::size_t>(category)] = bytes;
    return share;
  };
  DevicePeak peak{.device = "cuda:0", .allocated_bytes = 7 * kMiB};
  peak.owners = {owner("m.0", Category::AllGather, kMiB),
                 owner("m.1", Category::Activation, 4 * kMiB),
                 owner("m", Category::UnshardedParameter, 2 * kMiB)};
  const std::string text = text_report(PeakAnswer{.devices = {peak}});
  EXPECT_NE(text.find("Gathered from all ranks then: 2 modules\n"
                      "  module  parameters  on the way\n"
                      "  m         2.00 MiB           -\n"
                      "  m.0              -    1.00 MiB\n"),
            std::string::npos)
      << text;
  peak.owners.erase(peak.owners.begin());
  peak.owners.pop_back();
  EXPECT_EQ(text_report(PeakAnswer{.devices = {peak}}).find("Gathered"), std::string::npos);
}

TEST(EmptyText, EmptyAnswersAreSentences) {
  EXPECT_TRUE(
      text_report(Overview{}).starts_with("No memory was allocated.\n0 steps, 0 events\n\nnext: "));
  EXPECT_EQ(text_report(PeakAnswer{}), "No memory was allocated.\n0 steps, 0 events\n");
  EXPECT_EQ(text_report(ScopesAnswer{}), "No module was called.\n");
  EXPECT_EQ(text_report(TimelineAnswer{}), "No memory was allocated.\n");
  EXPECT_EQ(text_report(LifetimesAnswer{}), "No memory was allocated.\n");
  EXPECT_EQ(text_report(DiffAnswer{}), "Neither tape allocates memory.\n");
  EXPECT_EQ(text_report(Diagnostics{}), "No problems were found.\n");
}

TEST(LeaksText, TooFewStepsAreSaidSo) {
  EXPECT_EQ(text_report(LeaksAnswer{.finished_steps = 1}),
            "At least three finished steps are needed to see a leak; the tape has 1.\n");
}

TEST(LeaksText, ACleanRunIsSaidSo) {
  EXPECT_EQ(text_report(LeaksAnswer{.enough_steps = true, .finished_steps = 5}),
            "No leak was found in 5 finished steps.\n");
}

TEST(LeaksText, SitesSayHowMuchPerStep) {
  const LeaksAnswer answer{.enough_steps = true,
                           .finished_steps = 5,
                           .leaked_bytes = 12 * kMiB,
                           .sites = {{"cpu", "", "aten::add", "train.py:52", Category::Activation,
                                      12, 12 * kMiB, 3, 4 * kMiB, 2, 4}}};
  const std::string text = text_report(answer);
  EXPECT_TRUE(text.starts_with("12.00 MiB leaked in 5 finished steps\n"));
  EXPECT_TRUE(
      says(text, "  12.00 MiB  4.00 MiB  3 (2-4)        12  Activation  aten::add train.py:52\n"));
}

TEST(LeaksText, TheMiddleOfALongRunIsLeftOut) {
  LeaksAnswer answer{.enough_steps = true, .finished_steps = 1000};
  for (std::int64_t step = 1; step <= 1000; ++step) answer.levels.push_back({"cpu", step, step});
  const std::string text = text_report(answer);
  EXPECT_TRUE(says(text, "… 980 more\n"));
  EXPECT_TRUE(says(text, " 10    10 B\n"));
  EXPECT_FALSE(says(text, " 11    11 B\n"));
  EXPECT_TRUE(says(text, "991   991 B\n"));
}

TEST(DiffText, ChangesHaveTheirSign) {
  const DiffAnswer answer{.same = false,
                          .devices = {{"cpu",
                                       {"peak", 4 * kMiB, 3 * kMiB},
                                       {{"Gradient", kMiB, 2 * kMiB}, {"Other", 3 * kMiB, kMiB}},
                                       {},
                                       {}}}};
  EXPECT_EQ(text_report(answer),
            "cpu  peak 4.00 MiB → 3.00 MiB  (-1.00 MiB, -25.0%)\n"
            "\n"
            "What the peaks are made of\n"
            "  category    before     after     change\n"
            "  ───────────────────────────────────────\n"
            "  Gradient  1.00 MiB  2.00 MiB  +1.00 MiB\n"
            "  Other     3.00 MiB  1.00 MiB  -2.00 MiB\n");
}

TEST(DiffText, TheSameMemoryIsSaidSo) {
  const DiffAnswer answer{.same = true, .devices = {{"cpu", {"peak", 7, 7}, {}, {}, {}}}};
  EXPECT_EQ(text_report(answer), "Both tapes use the same memory.\n\ncpu  peak 7 B → 7 B  (0 B)\n");
}

TEST(LifetimesText, WhatNeverDiesHasNoDeath) {
  Lifetime life;
  life.storage = {.storage = 9, .allocated_bytes = kMiB, .device = "cpu"};
  life.storage.born.step = 1;
  const std::string text =
      text_report(LifetimesAnswer{.storages = 1, .heaviest = {life}}, {.width = 200});
  EXPECT_TRUE(text.starts_with("1 storage\n"));
  EXPECT_TRUE(says(text, "  1             -             -\n")) << text;
}

TEST(VerifyText, ProblemsAreCountedAndPlaced) {
  EXPECT_EQ(text_report(one_warning()),
            "2 problems of 1 kind\n"
            "  warning: an event is early (time-runs-back, 2 times, first at event 3)\n");
}

TEST(VerifyText, NotesAreShownAndNotCounted) {
  Diagnostics found;
  found.add("late-start", Severity::Note, "", "only told", 7);
  const std::string notes = "\nNotes\n  note: only told (late-start, 7 times)\n";
  EXPECT_EQ(text_report(found), "No problems were found.\n" + notes);
  found.add(one_warning());
  EXPECT_EQ(text_report(found), text_report(one_warning()) + notes);
}

}  // namespace
}  // namespace tidemark
