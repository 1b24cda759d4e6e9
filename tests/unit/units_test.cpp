// Byte counts, counts and durations: what people write in and read out.
#include "tidemark/engine/base/units.h"

#include <gtest/gtest.h>

namespace tidemark {
namespace {

TEST(Units, PlainDigitsAreBytes) {
  EXPECT_EQ(parse_bytes("0"), 0);
  EXPECT_EQ(parse_bytes("4096"), 4096);
}

TEST(Units, AUnitMultipliesByPowersOf1024) {
  EXPECT_EQ(parse_bytes("3B"), 3);
  EXPECT_EQ(parse_bytes("4KiB"), 4 * 1024);
  EXPECT_EQ(parse_bytes("2MiB"), 2 * 1024 * 1024);
  EXPECT_EQ(parse_bytes("1GiB"), 1024 * 1024 * 1024);
  EXPECT_EQ(parse_bytes("1TiB"), 1024LL * 1024 * 1024 * 1024);
}

TEST(Units, AFractionOfAUnitIsRoundedToWholeBytes) {
  EXPECT_EQ(parse_bytes("1.5KiB"), 1536);
  EXPECT_EQ(parse_bytes(".5KiB"), 512);
  EXPECT_EQ(parse_bytes("0.0004KiB"), 0);  // 0.41 bytes
}

TEST(Units, TheLargestSizeIsTheLargest63BitNumber) {
  EXPECT_EQ(parse_bytes("9223372036854775807"), INT64_MAX);
  EXPECT_EQ(parse_bytes("9223372036854775808"), std::nullopt);
  EXPECT_EQ(parse_bytes("8388607TiB"), 8388607LL << 40);
  EXPECT_EQ(parse_bytes("8388608TiB"), std::nullopt);  // 2^23 * 2^40 = 2^63
  EXPECT_EQ(parse_bytes("8388608.0TiB"), std::nullopt);
}

TEST(Units, WhatIsNotASizeIsRefused) {
  for (const char* text : {"", "B", "KiB", "-1", "+1", "1 KiB", "1kb", "1KB", "1.2.3", ".", "1e3",
                           "0x10", "auto", "1auto", "4KiBs", " 4"})
    EXPECT_EQ(parse_bytes(text), std::nullopt) << text;
}

TEST(Units, AutoPicksTheLargestUnitThatLeavesOneWhole) {
  EXPECT_EQ(format_bytes(0), "0 B");
  EXPECT_EQ(format_bytes(1023), "1023 B");
  EXPECT_EQ(format_bytes(1024), "1.00 KiB");
  EXPECT_EQ(format_bytes(1536), "1.50 KiB");
  EXPECT_EQ(format_bytes(5LL << 30), "5.00 GiB");
  EXPECT_EQ(format_bytes(-2048), "-2.00 KiB");
}

TEST(Units, AGivenUnitIsKept) {
  EXPECT_EQ(format_bytes(123456789, Units::B), "123456789 B");
  EXPECT_EQ(format_bytes(512, Units::KiB), "0.50 KiB");
  EXPECT_EQ(format_bytes(3LL << 40, Units::TiB), "3.00 TiB");
}

TEST(Units, TheEndsOfTheRangePrintWithoutOverflow) {
  EXPECT_EQ(format_bytes(INT64_MAX, Units::B), "9223372036854775807 B");
  EXPECT_EQ(format_bytes(INT64_MIN, Units::B), "-9223372036854775808 B");
  EXPECT_EQ(format_bytes(INT64_MIN), "-8388608.00 TiB");  // 2^63 / 2^40 = 2^23
}

TEST(Units, AChangeAlwaysSaysItsDirection) {
  EXPECT_EQ(format_change(1024), "+1.00 KiB");
  EXPECT_EQ(format_change(-3), "-3 B");
  EXPECT_EQ(format_change(0), "0 B");
}

TEST(Units, CountsAreGroupedByThree) {
  EXPECT_EQ(format_count(0), "0");
  EXPECT_EQ(format_count(999), "999");
  EXPECT_EQ(format_count(1000), "1 000");
  EXPECT_EQ(format_count(12345678), "12 345 678");
  EXPECT_EQ(format_count(-123), "-123");
  EXPECT_EQ(format_count(-1234), "-1 234");
}

TEST(Units, DurationsPickTheirUnit) {
  EXPECT_EQ(format_duration(0), "0 ns");
  EXPECT_EQ(format_duration(999), "999 ns");
  EXPECT_EQ(format_duration(830'000), "830.00 µs");
  EXPECT_EQ(format_duration(1'500'000), "1.50 ms");
  EXPECT_EQ(format_duration(1'250'000'000), "1.25 s");
}

TEST(Units, UnitsAreFoundByTheirNames) {
  EXPECT_EQ(units_named("auto"), Units::Auto);
  EXPECT_EQ(units_named("MiB"), Units::MiB);
  EXPECT_EQ(units_named("mib"), std::nullopt);
}

}  // namespace
}  // namespace tidemark
