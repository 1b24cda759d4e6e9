// The terminal timeline: heights, fills, labels.
#include "tidemark/engine/reports/chart.h"

#include <gtest/gtest.h>

#include <sstream>

#include "tidemark/engine/base/utf8.h"
#include "tidemark/engine/reports/chart_labels.h"
#include "tidemark/engine/reports/layout.h"

namespace tidemark {
namespace {

TimelinePoint point(std::int64_t event, std::int64_t parameter, std::int64_t activation,
                    std::int64_t step = 0, Phase phase = Phase::Other) {
  TimelinePoint p{.event = event, .time_ns = event, .step = step, .phase = phase};
  p.categories[static_cast<std::size_t>(Category::Parameter)] = parameter;
  p.categories[static_cast<std::size_t>(Category::Activation)] = activation;
  p.lowest = p.highest = parameter > INT64_MAX - activation ? INT64_MAX : parameter + activation;
  return p;
}

std::vector<std::string> chart_lines(std::vector<TimelinePoint> points, std::int64_t last,
                                     std::size_t width, std::size_t rows = kChartRows) {
  TimelineAnswer answer{.first = 0, .last = last, .devices = {{"cuda:0", std::move(points)}}};
  Page page({.width = width});
  draw_chart(page, answer, answer.devices[0], rows);
  std::istringstream text(page.take());
  std::vector<std::string> lines;
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  return lines;
}

// Width 28: margin 2 + label "10 B" 4 + " ┤" 2 leaves 20 columns.
TEST(Chart, BandsAreStackedToScaleFromTheGroundUp) {
  const auto lines = chart_lines({point(0, 5, 5), point(10, 5, 0)}, 19, 28);
  ASSERT_GE(lines.size(), 10u);
  EXPECT_EQ(lines[0], "  10 B ┤" + repeated("░", 10));
  EXPECT_EQ(lines[3], "       │" + repeated("░", 10));
  EXPECT_EQ(lines[4], "   5 B ┤" + repeated("█", 20));
  EXPECT_EQ(lines[7], "       │" + repeated("█", 20));
  EXPECT_EQ(lines[8], "   0 B └" + repeated("─", 20));
  EXPECT_EQ(lines[9], "  █ Parameter  ░ Activation");
}

// No edge of five rows is at half the height: the middle row's upper edge is at three fifths.
TEST(Chart, ALabelIsTheHeightOfItsRowsUpperEdge) {
  const auto lines = chart_lines({point(0, 10, 0)}, 19, 28, 5);
  ASSERT_EQ(lines.size(), 6u);
  EXPECT_EQ(lines[0], "  10 B ┤" + repeated("█", 20));
  EXPECT_EQ(lines[1], "       │" + repeated("█", 20));
  EXPECT_EQ(lines[2], "   6 B ┤" + repeated("█", 20));
  EXPECT_EQ(lines[3], "       │" + repeated("█", 20));
  EXPECT_EQ(lines[4], "       │" + repeated("█", 20));
  EXPECT_EQ(lines[5], "   0 B └" + repeated("─", 20));
}

TEST(Chart, OneRowIsLabelledOnce) {
  const auto lines = chart_lines({point(0, 10, 0)}, 19, 28, 1);
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0], "  10 B ┤" + repeated("█", 20));
  EXPECT_EQ(lines[1], "   0 B └" + repeated("─", 20));
}

TEST(Chart, ASliceWithManyChangesShowsItsHighest) {
  std::vector<TimelinePoint> points;
  for (int event = 0; event < 2000; ++event)
    points.push_back(point(event, event == 1050 ? 10 : 1, 0));
  const auto lines = chart_lines(points, 1999, 28);
  // 100 events a column: event 1050 is in the eleventh.
  EXPECT_EQ(lines[0], "  10 B ┤" + std::string(10, ' ') + "█");
  EXPECT_EQ(lines[7], "       │" + repeated("█", 20));
}

TEST(Chart, WhatEndsBeforeTheAxisEndsIsNotDrawnOn) {
  const auto lines = chart_lines({point(5, 10, 0), point(15, 0, 0)}, 19, 28);
  EXPECT_EQ(lines[7], "       │" + std::string(5, ' ') + repeated("█", 10));
}

TEST(Chart, SizesNearTheEndOf63BitsAreDrawn) {
  const auto lines = chart_lines({point(0, INT64_MAX, INT64_MAX)}, 9, 80);
  EXPECT_NE(lines[0].find("8388608.00 TiB ┤██"), std::string::npos);
}

TEST(Chart, NoLineIsWiderThanThePage) {
  for (std::size_t width : {20u, 40u, 80u, 120u})
    for (const auto& line : chart_lines({point(0, INT64_MAX, 3, 1, Phase::Forward)}, 9, width))
      EXPECT_LE(display_width(line), width) << line;
}

std::vector<const TimelinePoint*> repeat_each(const std::vector<TimelinePoint>& points,
                                              std::size_t times) {
  std::vector<const TimelinePoint*> columns;
  for (const TimelinePoint& p : points) columns.insert(columns.end(), times, &p);
  return columns;
}

TEST(ChartLabels, StepsAreNamedWhereTheyBegin) {
  const std::vector<TimelinePoint> points = {point(0, 1, 0, 1), point(1, 1, 0, 2)};
  const AxisLabels labels = label_axis(repeat_each(points, 8));
  EXPECT_EQ(labels.ticks, "┬───────┬───────");
  EXPECT_EQ(labels.steps, "step 1  step 2  ");
  EXPECT_EQ(labels.phases, "");
}

TEST(ChartLabels, NarrowStepsAreNumberedOnly) {
  const std::vector<TimelinePoint> points = {point(0, 1, 0, 1), point(1, 1, 0, 2)};
  EXPECT_EQ(label_axis(repeat_each(points, 3)).steps, "1  2  ");
}

TEST(ChartLabels, OfStepsNarrowerThanAnyLabelEverySoManyAreNamed) {
  std::vector<TimelinePoint> points;
  for (int step = 1; step <= 16; ++step) points.push_back(point(step, 1, 0, step));
  EXPECT_EQ(label_axis(repeat_each(points, 1)).steps, "step 1 step 8   ");
}

TEST(ChartLabels, PhasesAreNamedInFullOrByTheirFirstLetter) {
  const std::vector<TimelinePoint> points = {point(0, 1, 0, 1, Phase::Forward),
                                             point(1, 1, 0, 1, Phase::Backward)};
  EXPECT_EQ(label_axis(repeat_each(points, 8)).phases, "forward b       ");
}

TEST(ChartLabels, ATapeWithoutStepsHasAPlainAxis) {
  const std::vector<TimelinePoint> points = {point(0, 1, 0)};
  const AxisLabels labels = label_axis(repeat_each(points, 4));
  EXPECT_EQ(labels.ticks, "────");
  EXPECT_EQ(labels.steps, "");
}

}  // namespace
}  // namespace tidemark
