// Overview: three answers and what the tape says of itself.
#include "tidemark/engine/analyses/overview.h"

#include <gtest/gtest.h>

#include "tidemark/engine/base/error.h"
#include "tidemark/engine/tape/text_reader.h"

namespace tidemark {
namespace {

TEST(Overview, HoldsPeakScopesAndTimelineOfTheSameSelection) {
  const Tape tape = read_tape_text(
      "tape 1\nmeta model tiny\ndevice cpu\nalloc a 5\nstep\nbegin m.n.o\nalloc b 3\nend m.n.o\n");
  OverviewOptions options;
  options.columns = 2;
  options.depth = 2;
  options.device = "cpu";
  const Overview overview = find_overview(tape, options);
  EXPECT_EQ(overview.meta.at("model"), "tiny");
  EXPECT_EQ(overview.events, 5);
  EXPECT_EQ(overview.steps, 1);
  EXPECT_EQ(overview.peak.devices.at(0).allocated_bytes, 8);
  EXPECT_EQ(overview.scopes.scopes.size(), 2u);  // m and m.n
  EXPECT_EQ(overview.timeline.devices.at(0).points.size(), 2u);
  options.device = "gpu";
  EXPECT_THROW(find_overview(tape, options), Error);
}

TEST(Overview, NamesEachProblemOnce) {
  const Overview overview =
      find_overview(read_tape_text("tape 1\ndiagnostic lost warning 2 here \"events lost\"\n"
                                   "alloc a 5\nfree a\nfree a\nbegin m\n"));
  EXPECT_EQ(overview.diagnostics.all().size(), 3u);
  EXPECT_EQ(overview.diagnostics.find("lost")->count, 2);
  EXPECT_EQ(overview.diagnostics.find("double-free")->count, 1);
  EXPECT_EQ(overview.diagnostics.find("scope-left-open")->count, 1);
}

}  // namespace
}  // namespace tidemark
