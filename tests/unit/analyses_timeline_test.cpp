// Timeline: every change, or columns that keep the lows and highs.
#include "tidemark/engine/analyses/timeline.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "tests/support/written_tape.h"
#include "tidemark/engine/base/error.h"
#include "tidemark/engine/tape/builder.h"
#include "tidemark/engine/tape/text_reader.h"

namespace tidemark {
namespace {

using test::cpu_tape;

TimelineOptions in_columns(std::size_t columns, TimelineAxis axis = TimelineAxis::Events) {
  TimelineOptions options;
  options.columns = columns;
  options.axis = axis;
  return options;
}

using LowHigh = std::pair<std::int64_t, std::int64_t>;

std::vector<LowHigh> lows_and_highs(const DeviceTimeline& line) {
  std::vector<LowHigh> result;
  for (const TimelinePoint& point : line.points) result.emplace_back(point.lowest, point.highest);
  return result;
}

TEST(Timeline, HasAPointForEachChangeOfADevice) {
  const auto answer = find_timeline(
      cpu_tape("alloc a 10 Activation\nmark nothing\nstep\nphase forward\nrelabel a Gradient\n"
               "relabel a Gradient\nalloc z 0\nfree a\n"));
  ASSERT_EQ(answer.devices.size(), 1u);
  const auto& points = answer.devices[0].points;
  ASSERT_EQ(points.size(), 3u);  // born, another category, dead
  EXPECT_EQ(points[0].event, 0);
  EXPECT_EQ(points[0].highest, 10);
  EXPECT_EQ(points[1].event, 4);
  EXPECT_EQ(points[1].step, 1);
  EXPECT_EQ(points[1].phase, Phase::Forward);
  EXPECT_EQ(points[1].categories[static_cast<std::size_t>(Category::Gradient)], 10);
  EXPECT_EQ(points[2].event, 7);
  EXPECT_EQ(points[2].lowest, 0);
  EXPECT_EQ(answer.first, 0);
  EXPECT_EQ(answer.last, 7);
}

TEST(Timeline, AResizeInsideTheSameBlockIsNoChange) {
  const auto answer = find_timeline(
      read_tape_text("tape 1\ndevice cuda:0\nalloc a 100\nresize a 500\nresize a 600\n"));
  EXPECT_EQ(lows_and_highs(answer.devices.at(0)), (std::vector<LowHigh>{{512, 512}, {1024, 1024}}));
}

TEST(Timeline, ColumnsKeepLowsHighsAndTheLevelTheyBeginWith) {
  const auto answer = find_timeline(
      cpu_tape("alloc a 5\nalloc b 4\nresize b 0\nresize a 3\nmark x\nmark y\nresize a 8\n"),
      in_columns(4));
  // 7 events in 4 columns: 2 events each. Levels: 5 9 | 5 3 | 3 3 | 8
  EXPECT_EQ(lows_and_highs(answer.devices.at(0)),
            (std::vector<LowHigh>{{5, 9}, {3, 9}, {3, 3}, {3, 8}}));
  EXPECT_EQ(answer.devices[0].points[0].event, 1);
  EXPECT_EQ(answer.devices[0].points[3].event, 6);
}

TEST(Timeline, ColumnsOfTimeAreEvenAlsoWhereNothingHappens) {
  const auto answer = find_timeline(cpu_tape("@1000 alloc a 5\n@1001 alloc b 5\n@1099 free b\n"),
                                    in_columns(10, TimelineAxis::Time));
  // 100 nanoseconds in 10 columns; all but the first and last repeat the level.
  ASSERT_EQ(answer.devices.at(0).points.size(), 10u);
  const auto& points = answer.devices[0].points;
  EXPECT_EQ(lows_and_highs(answer.devices[0])[0], LowHigh(5, 10));
  for (std::size_t i = 1; i < 9; ++i) {
    EXPECT_EQ(points[i].lowest, 10);
    EXPECT_EQ(points[i].highest, 10);
    EXPECT_EQ(points[i].time_ns, 1000 + 10 * static_cast<std::int64_t>(i));
    EXPECT_EQ(points[i].event, 1);
  }
  EXPECT_EQ(lows_and_highs(answer.devices[0])[9], LowHigh(5, 10));
  EXPECT_EQ(answer.first, 1000);
  EXPECT_EQ(answer.last, 1099);
}

TEST(Timeline, AStepBeginsWithTheLevelItFinds) {
  auto options = in_columns(2);
  options.step = 1;
  const auto answer = find_timeline(
      cpu_tape(
          "alloc a 7\nalloc b 90\nfree b\nstep\nmark x\nfree a\nalloc c 1\nstep\nalloc d 50\n"),
      options);
  // Events 3 to 6: levels 7 7 | 0 1, the second column beginning with 7.
  EXPECT_EQ(lows_and_highs(answer.devices.at(0)), (std::vector<LowHigh>{{7, 7}, {0, 7}}));
  EXPECT_EQ(answer.first, 3);
  EXPECT_EQ(answer.last, 6);
  options.columns = 0;
  EXPECT_EQ(find_timeline(cpu_tape("alloc a 7\nstep\nfree a\nstep\nalloc d 5\n"), options)
                .devices.at(0)
                .points.size(),
            1u);
}

TEST(Timeline, ADeviceThatAppearsLateWasEmptyBefore) {
  const auto answer =
      find_timeline(cpu_tape("alloc a 1\nmark x\nmark y\ndevice gpu\nalloc b 6\n"), in_columns(2));
  ASSERT_EQ(answer.devices.size(), 2u);
  EXPECT_EQ(lows_and_highs(answer.devices[0]), (std::vector<LowHigh>{{1, 1}, {1, 1}}));
  EXPECT_EQ(lows_and_highs(answer.devices[1]), (std::vector<LowHigh>{{0, 0}, {0, 6}}));
}

TEST(Timeline, DevicesCanBeChosenAndUnknownOnesAreRefused) {
  const Tape tape = cpu_tape("alloc a 1\ndevice gpu\nalloc b 6\n");
  TimelineOptions options;
  options.device = "gpu";
  ASSERT_EQ(find_timeline(tape, options).devices.size(), 1u);
  EXPECT_EQ(find_timeline(tape, options).devices[0].device, "gpu");
  options.device = "tpu";
  EXPECT_THROW(find_timeline(tape, options), Error);
}

TEST(Timeline, StrangeTimesAreSurvived) {
  for (const char* lines : {"@-9223372036854775808 alloc a 5\n@9223372036854775807 free a\n",
                            "@100 alloc a 5\n@50 free a\n@100 alloc b 2\n"})
    for (std::size_t columns : {1, 2, 7, 1000}) {
      const auto answer = find_timeline(cpu_tape(lines), in_columns(columns, TimelineAxis::Time));
      const auto& points = answer.devices.at(0).points;
      EXPECT_LE(points.size(), columns);
      EXPECT_EQ(std::max_element(points.begin(), points.end(),
                                 [](auto& a, auto& b) { return a.highest < b.highest; })
                    ->highest,
                5);
      EXPECT_EQ(points.back().lowest, 0);
    }
}

TEST(Timeline, IrregularTapesGiveDiagnosticsAndAnAnswer) {
  const auto answer = find_timeline(cpu_tape("alloc a 5\nfree a\nfree a\n"), in_columns(3));
  EXPECT_EQ(answer.diagnostics.find("double-free")->count, 1);
  EXPECT_EQ(answer.devices.at(0).points.size(), 3u);
  EXPECT_TRUE(find_timeline(Tape(), in_columns(3)).devices.empty());
}

// A tape of random changes, with times that jump.
Tape random_tape(unsigned seed) {
  std::mt19937 random(seed);
  TapeBuilder builder;
  const std::vector devices = {builder.tables().device("cpu"), builder.tables().device("gpu")};
  std::vector<StorageId> alive;
  std::int64_t time_ns = 0;
  for (std::size_t i = 0, count = 1 + random() % 120; i < count; ++i) {
    builder.set_time(time_ns += random() % 8 == 0 ? random() % 100'000 : random() % 5);
    if (!alive.empty() && random() % 2) {
      builder.free(alive.back());
      alive.pop_back();
    } else {
      alive.push_back(builder.alloc(devices[random() % 2], 1 + random() % 100));
    }
  }
  return builder.finish();
}

LowHigh extremes(const std::vector<TimelinePoint>& points) {
  LowHigh result(INT64_MAX, INT64_MIN);
  for (const TimelinePoint& point : points)
    result = {std::min(result.first, point.lowest), std::max(result.second, point.highest)};
  return result;
}

TEST(Timeline, ColumnsKeepTheLowestAndHighestOfTheWhole) {
  for (unsigned seed = 1; seed <= 40; ++seed) {
    const Tape tape = random_tape(seed);
    const auto exact = find_timeline(tape);
    for (TimelineAxis axis : {TimelineAxis::Events, TimelineAxis::Time})
      for (std::size_t columns : {1, 2, 3, 8, 50, 1000}) {
        TimelineAccumulator live(tape.tables(), in_columns(columns, axis));
        for (std::size_t i = 0; i < tape.size(); ++i) live.add(tape[i]);
        for (const auto& drawn : {find_timeline(tape, in_columns(columns, axis)), live.answer()}) {
          ASSERT_EQ(drawn.devices.size(), exact.devices.size()) << "seed " << seed;
          for (std::size_t d = 0; d < drawn.devices.size(); ++d) {
            LowHigh expected = extremes(exact.devices[d].points);
            // A device is empty until its first change, unless that is the tape's first event.
            if (exact.devices[d].points[0].event > 0) expected.first = 0;
            EXPECT_EQ(extremes(drawn.devices[d].points), expected) << "seed " << seed;
            EXPECT_LE(drawn.devices[d].points.size(), columns) << "seed " << seed;
          }
        }
      }
  }
}

TEST(Timeline, CanBeAskedWhileTheRunGoesOnAndAgain) {
  TapeBuilder builder;
  TimelineAccumulator live(builder.tables(), in_columns(4));
  EXPECT_TRUE(live.answer().devices.empty());
  const DeviceId cpu = builder.tables().device("cpu");
  for (int i = 0; i < 1000; ++i) {
    builder.alloc(cpu, 1);
    live.add(builder.last());
    const auto points = live.answer().devices.at(0).points;
    EXPECT_LE(points.size(), 4u);
    EXPECT_EQ(points.front().lowest, 1);
    EXPECT_EQ(points.back().highest, i + 1);
  }
}

}  // namespace
}  // namespace tidemark
