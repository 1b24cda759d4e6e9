// Event columns: every field comes back, whatever the growth.
#include "tidemark/engine/tape/columns.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace tidemark {
namespace {

Event event_number(std::int64_t i) {
  Event e;
  e.time_ns = i;
  e.bytes = i * 3 - 7;
  e.subject = static_cast<std::uint32_t>(i + 1);
  e.scope = ScopeId(static_cast<std::uint32_t>(i + 2));
  e.stack = StackId(static_cast<std::uint32_t>(i + 3));
  e.call = CallId(static_cast<std::uint32_t>(i + 4));
  e.stream = StreamId(static_cast<std::uint16_t>(i));
  e.kind = static_cast<Kind>(i % kKindCount);
  e.category = static_cast<Category>(i % kCategoryCount);
  e.phase = static_cast<Phase>(i % kPhaseCount);
  e.device = DeviceId(static_cast<std::uint8_t>(i % 7));
  return e;
}

TEST(EventColumns, EveryFieldSurvivesGrowth) {
  EventColumns columns;
  for (std::int64_t i = 0; i < 10'000; ++i) columns.push(event_number(i));
  ASSERT_EQ(columns.size(), 10'000u);
  for (std::int64_t i = 0; i < 10'000; ++i)
    ASSERT_EQ(columns[static_cast<std::size_t>(i)], event_number(i)) << i;
}

TEST(EventColumns, AnEventCostsAtMostFortyBytes) {
  std::size_t bytes = 0;
  std::set<std::string> names;
  const EventColumns columns;
  columns.for_each_column([&]<class T>(const char* name, std::span<const T>) {
    bytes += sizeof(T);
    names.insert(name);
  });
  EXPECT_EQ(bytes, EventColumns::kBytesPerEvent);
  EXPECT_LE(bytes, 40u);
  EXPECT_EQ(names.size(), 11u);
}

TEST(EventColumns, GrowingKeepsTheRowsThereAre) {
  EventColumns columns;
  columns.push(event_number(1));
  columns.grow_to(100'000);
  EXPECT_EQ(columns.size(), 100'000u);
  EXPECT_EQ(columns[0], event_number(1));
  columns.grow_to(1);
  columns.push(event_number(2));
  EXPECT_EQ(columns[1], event_number(2));
}

TEST(EventColumns, ViewsShowTheSameNumbersAsRows) {
  EventColumns columns;
  for (std::int64_t i = 0; i < 50; ++i) columns.push(event_number(i));
  EXPECT_EQ(columns.bytes()[10], 10 * 3 - 7);
  EXPECT_EQ(columns.devices()[10], 10 % 7);
  EXPECT_EQ(columns.streams().size(), 50u);
}

}  // namespace
}  // namespace tidemark
