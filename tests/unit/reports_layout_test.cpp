// Eliding, aligning, wrapping and percentages, measured in columns.
#include "tidemark/engine/reports/layout.h"

#include <gtest/gtest.h>

#include "tidemark/engine/base/utf8.h"

namespace tidemark {
namespace {

TEST(Layout, TextThatFitsIsLeftAlone) {
  EXPECT_EQ(elided("layers", 6), "layers");
  EXPECT_EQ(elided("", 0), "");
}

TEST(Layout, LongTextKeepsBothEndsAroundOneEllipsis) {
  EXPECT_EQ(elided("abcdefghij", 5), "ab…ij");
  EXPECT_EQ(elided("abcdefghij", 4), "ab…j");
  EXPECT_EQ(elided("abcdefghij", 1), "…");
  EXPECT_EQ(elided("abcdefghij", 0), "");
}

TEST(Layout, ElidingCountsCharactersNotBytes) {
  EXPECT_EQ(elided("äöüäöü", 6), "äöüäöü");
  EXPECT_EQ(elided("äöüßéñ", 5), "äö…éñ");
}

TEST(Layout, MiddleWordsGoFirstWhereTheOuterOnesFit) {
  EXPECT_EQ(elided("mlp aten::mm a.py:1", 18), "mlp … a.py:1");
  EXPECT_EQ(elided("mlp aten::mm a.py:1", 12), "mlp … a.py:1");
  EXPECT_EQ(display_width(elided("mlp aten::mm a.py:1", 11)), 11u);
}

TEST(Layout, AMillionBytesFitIntoTen) {
  EXPECT_EQ(display_width(elided(std::string(1'000'000, 'x'), 10)), 10u);
}

TEST(Layout, AlignedCellsAreExactlyAsWideAsAsked) {
  EXPECT_EQ(left_aligned("ab", 4), "ab  ");
  EXPECT_EQ(right_aligned("ab", 4), "  ab");
  EXPECT_EQ(right_aligned("µs", 3), " µs");
  EXPECT_EQ(left_aligned("abcdef", 3), "a…f");
}

TEST(Layout, WrappingBreaksAtBlanksOnly) {
  const std::vector<std::string> expected = {"one two", "three", "four"};
  EXPECT_EQ(wrapped("one two three four", 8), expected);
}

TEST(Layout, TheFirstLineMayBeWider) {
  const std::vector<std::string> expected = {"one two three", "four"};
  EXPECT_EQ(wrapped("one two three four", 8, 5), expected);
}

TEST(Layout, AWordWiderThanTheLineIsElided) {
  const std::vector<std::string> expected = {"a", "bc…fg"};
  EXPECT_EQ(wrapped("a bcdddefg", 5), expected);
  EXPECT_TRUE(wrapped("   ", 5).empty());
}

TEST(Layout, PercentagesHaveOneDigitAndNeverHideSomething) {
  EXPECT_EQ(percent_of(1, 3), "33.3%");
  EXPECT_EQ(percent_of(2, 2), "100.0%");
  EXPECT_EQ(percent_of(1, 1'000'000), "<0.1%");
  EXPECT_EQ(percent_of(0, 5), "0.0%");
  EXPECT_EQ(percent_of(INT64_MAX, INT64_MAX), "100.0%");
  EXPECT_EQ(percent_of(5, 0), "-");
}

}  // namespace
}  // namespace tidemark
