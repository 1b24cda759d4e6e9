// Settings of the caching allocator as PYTORCH_CUDA_ALLOC_CONF has them, and what they round to.
#include "tidemark/engine/allocator/settings.h"

#include <gtest/gtest.h>

#include "tests/support/numbers.h"
#include "tidemark/engine/allocator/block_size.h"
#include "tidemark/engine/base/error.h"

namespace tidemark {
namespace {

using test::kMiB;

std::string problem_with(const std::string& text) {
  try {
    parse_allocator_settings(text);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::BadArgument);
    EXPECT_FALSE(error.hint().empty());
    return error.where() + ": " + error.message() + " (" + error.hint() + ")";
  }
  return "";
}

TEST(AllocatorSettings, OfNothingAreTheDefaults) {
  EXPECT_EQ(parse_allocator_settings(""), AllocatorSettings());
  EXPECT_EQ(parse_allocator_settings("  "), AllocatorSettings());
}

TEST(AllocatorSettings, AreReadOptionByOption) {
  const AllocatorSettings read = parse_allocator_settings(
      "expandable_segments:True, max_split_size_mb:128,garbage_collection_threshold:0.8,"
      "large_segment_size_mb:64,max_non_split_rounding_mb:32,backend:native");
  EXPECT_TRUE(read.expandable_segments);
  EXPECT_EQ(read.max_split_bytes, 128 * kMiB);
  EXPECT_EQ(read.garbage_threshold, 0.8);
  EXPECT_EQ(read.large_segment_bytes, 64 * kMiB);
  EXPECT_EQ(read.non_split_slack_bytes, 32 * kMiB);
  EXPECT_TRUE(read.is_native);
}

TEST(AllocatorSettings, OptionsOfPinnedMemoryArePassedOver) {
  EXPECT_EQ(parse_allocator_settings("pinned_num_register_threads:8,expandable_segments:False"),
            AllocatorSettings());
}

TEST(AllocatorSettings, OneNumberOfDivisionsIsForAllSizes) {
  const AllocatorSettings read = parse_allocator_settings("roundup_power2_divisions:4");
  for (const std::int64_t divisions : read.power2_divisions) EXPECT_EQ(divisions, 4);
}

// The documentation's own example: up to 256 MiB none, at 512 two, at 1024 four, above eight.
TEST(AllocatorSettings, AListOfDivisionsNamesIntervals) {
  const AllocatorSettings read =
      parse_allocator_settings("roundup_power2_divisions:[256:1,512:2,1024:4,>:8]");
  const std::array<std::int64_t, 16> expected = {1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 4, 8, 8, 8, 8, 8};
  EXPECT_EQ(read.power2_divisions, expected);
}

TEST(AllocatorSettings, ABadStringIsRefusedWithItsPlace) {
  EXPECT_EQ(problem_with("expandable_segments:yes"),
            "allocator settings, column 21: unexpected \"yes\" (expected True or False)");
  EXPECT_EQ(problem_with("max_split_size_mb:8"),
            "allocator settings, column 19: unexpected \"8\" "
            "(expected MiB as a whole number from 20 up)");
  EXPECT_EQ(problem_with("max_split_size_mb:"),
            "allocator settings, column 19: the settings end "
            "(expected MiB as a whole number from 20 up)");
  EXPECT_EQ(problem_with("roundup_power2_divisions:[256:3]"),
            "allocator settings, column 31: unexpected \"3\" "
            "(expected a power of two, or 0 for none)");
  EXPECT_NE(problem_with("max_split:128").find("unknown option \"max_split\""), std::string::npos);
}

TEST(AllocatorSettings, EveryOtherBadStringIsRefusedToo) {
  for (const char* text : {",",
                           ":",
                           "[",
                           "expandable_segments",
                           "expandable_segments=True",
                           "max_split_size_mb:1e9",
                           "max_split_size_mb:-1",
                           "max_split_size_mb:99999999999999999999",
                           "backend:other",
                           "garbage_collection_threshold:0",
                           "garbage_collection_threshold:1",
                           "garbage_collection_threshold:nan",
                           "roundup_power2_divisions:[",
                           "a:b",
                           "roundup_power2_divisions:[256]",
                           "roundup_power2_divisions:[256:2",
                           "roundup_power2_divisions:3",
                           "roundup_power2_divisions:0",
                           "large_segment_size_mb:10",
                           "expandable_segments:True expandable_segments:True",
                           "pinned_num_register_threads:[1,2",
                           "expandable_segments:True,,"})
    EXPECT_FALSE(problem_with(text).empty()) << text;
}

TEST(AllocatorSettings, TheTieBreakChangedAfter213) {
  EXPECT_EQ(tie_break_of("2.11.0+cu130"), TieBreak::Address);
  EXPECT_EQ(tie_break_of("2.13.0"), TieBreak::Address);
  EXPECT_EQ(tie_break_of("2.15.0a0"), TieBreak::Registration);
  EXPECT_EQ(tie_break_of(""), TieBreak::Address);
}

TEST(BlockSize, IsAWholeNumberOf512) {
  const AllocatorSettings settings;
  EXPECT_EQ(block_size(1, settings), 512);
  EXPECT_EQ(block_size(512, settings), 512);
  EXPECT_EQ(block_size(513, settings), 1024);
  EXPECT_EQ(block_size(5 * kMiB + 1, settings), 5 * kMiB + 512);
}

// 1200 lies between 1024 and 2048; four steps are 1280, 1536, 1792, 2048. But 4 · 512 bytes must be
// passed before divisions count at all.
TEST(BlockSize, IsRoundedToDivisionsOfPowersOfTwo) {
  AllocatorSettings settings;
  settings.power2_divisions.fill(4);
  EXPECT_EQ(block_size(1200, settings), 1536);
  EXPECT_EQ(block_size(2048, settings), 2048);
  EXPECT_EQ(block_size(2049, settings), 2560);
  EXPECT_EQ(block_size(5 * kMiB, settings), 5 * kMiB);
  EXPECT_EQ(block_size(5 * kMiB + 1, settings), 6 * kMiB);
  EXPECT_EQ(block_size(kLargestRequest, settings), std::int64_t{1} << 60);
}

TEST(SegmentSize, DependsOnTheBlock) {
  const AllocatorSettings settings;
  EXPECT_EQ(segment_size(kMiB, settings), 2 * kMiB);
  EXPECT_EQ(segment_size(kMiB + 512, settings), 20 * kMiB);
  EXPECT_EQ(segment_size(10 * kMiB, settings), 10 * kMiB);
  EXPECT_EQ(segment_size(11 * kMiB + 512, settings), 12 * kMiB);
}

}  // namespace
}  // namespace tidemark
