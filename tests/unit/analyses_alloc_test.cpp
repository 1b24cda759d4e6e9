// Settings of the allocator side by side, and the peak as its blocks have it.
#include "tidemark/engine/analyses/alloc.h"

#include <gtest/gtest.h>

#include "tests/support/numbers.h"
#include "tests/support/written_tape.h"
#include "tidemark/engine/analyses/peak.h"
#include "tidemark/engine/base/error.h"
#include "tidemark/engine/reports/json.h"
#include "tidemark/engine/reports/text.h"
#include "tidemark/engine/tape/text_reader.h"

namespace tidemark {
namespace {

using test::kMiB;
const TextStyle kWide = {.width = 200};

// Batches that grow: each segment is too small for the next one, unless segments can grow.
const char* const kGrowing =
    "device cuda:0\nstep\nalloc a 30MiB\nfree a\nstep\nalloc b 40MiB\nfree b\nstep\nalloc c "
    "50MiB\n";

using test::written_tape;

const SettingOutcome& outcome_of(const AllocAnswer& answer, const std::string& settings) {
  for (const SettingOutcome& one : answer.devices.at(0).outcomes)
    if (one.settings == settings) return one;
  throw std::out_of_range(settings);
}

// 30 + 40 + 50 MiB; with segments that grow three pages of 20 MiB.
TEST(Alloc, ComparesTheUsefulSettingsAndNamesTheBest) {
  const AllocAnswer answer = find_alloc(written_tape(kGrowing));
  ASSERT_EQ(answer.devices.size(), 1U);
  EXPECT_EQ(answer.devices[0].outcomes.size(), 7U);
  EXPECT_EQ(outcome_of(answer, "").peak.reserved_peak_bytes, 120 * kMiB);
  EXPECT_EQ(outcome_of(answer, "").peak.fragmented_bytes, 70 * kMiB);
  EXPECT_EQ(outcome_of(answer, "").peak.reserved_at.step, 3);
  EXPECT_EQ(outcome_of(answer, "expandable_segments:True").peak.reserved_peak_bytes, 60 * kMiB);
  EXPECT_EQ(answer.devices[0].best, "expandable_segments:True");
  EXPECT_EQ(answer.devices[0].saved_bytes, 60 * kMiB);
  EXPECT_FALSE(answer.room_bytes);
  EXPECT_NE(text_report(answer, kWide).find("expandable_segments:True reserves 60.00 MiB less"),
            std::string::npos);
  EXPECT_NE(json_report(answer).find("\"best\": \"expandable_segments:True\""), std::string::npos);
}

TEST(Alloc, SaysWhereNothingIsGained) {
  const AllocAnswer answer = find_alloc(written_tape("device cuda:0\nalloc a 30MiB\n"));
  EXPECT_EQ(answer.devices[0].best, "");
  EXPECT_NE(text_report(answer).find("None is worth setting"), std::string::npos);
}

// What a graph's temporary tensor leaves behind is the graph's: 30 of 60 MiB are free and of no use
// to the next 30. With the graph's death they go back.
TEST(Alloc, APrivatePoolKeepsItsMemoryUntilItIsReleasedAndEmptied) {
  const std::string captured =
      "device cuda:0\npool 1\nalloc a 30MiB\nalloc b 30MiB\nfree b\npool 0\n";
  const auto reserved = [](const std::string& lines) {
    const AllocAnswer answer = find_alloc(read_tape_text("tape 2\n" + lines));
    return outcome_of(answer, "").peak.reserved_peak_bytes;
  };
  EXPECT_EQ(reserved(captured + "alloc c 30MiB\n"), 90 * kMiB);
  EXPECT_EQ(reserved(captured + "empty 0\nalloc c 30MiB\n"), 90 * kMiB);
  EXPECT_EQ(reserved(captured + "release 1\nalloc c 30MiB\n"), 90 * kMiB);
  EXPECT_EQ(reserved(captured + "release 1\nempty 0\nalloc c 30MiB\n"), 60 * kMiB);
  EXPECT_EQ(reserved(captured + "release 1\nempty 1\nalloc c 30MiB\n"), 60 * kMiB);
  EXPECT_EQ(reserved(captured + "pool 1\nalloc c 30MiB\n"), 60 * kMiB);
}

// Blocks of the first pass are not in the way of the second.
TEST(Alloc, AnEmptiedCacheIsOnTheTape) {
  const std::string first = "device cuda:0\nalloc a 30MiB\nfree a\n", second = "alloc b 40MiB\n";
  const auto reserved = [](const std::string& lines) {
    const AllocAnswer answer = find_alloc(read_tape_text("tape 2\n" + lines));
    return outcome_of(answer, "").peak.reserved_peak_bytes;
  };
  EXPECT_EQ(reserved(first + second), 70 * kMiB);
  EXPECT_EQ(reserved(first + "empty 0\n" + second), 40 * kMiB);
}

// The same with every storage charged its block.
TEST(Alloc, ThePeakByBlocksFollowsPools) {
  PeakOptions options;
  options.allocator_settings = "";
  const PeakAnswer peak = find_peak(
      read_tape_text("tape 2\ndevice cuda:0\nalloc a 30MiB\nfree a\npool 1\nalloc b 29MiB\n"),
      options);
  EXPECT_EQ(peak.devices.at(0).allocator->reserved_peak_bytes, 60 * kMiB);
}

// A GPU of 743 MiB has 100 for the allocator, after 643 of CUDA's context: 30 + 40 fit, and for the
// next 50 the cache must be emptied.
TEST(Alloc, CountsRetriesOnTheGpuOfTheRun) {
  const std::string gpu = "meta gpu.memory_bytes " + std::to_string(743 * kMiB) + "\n";
  const AllocAnswer answer = find_alloc(written_tape(gpu + kGrowing));
  EXPECT_EQ(answer.room_bytes, 100 * kMiB);
  EXPECT_EQ(outcome_of(answer, "").retries, 1);
  EXPECT_EQ(outcome_of(answer, "").failures, 0);
  EXPECT_EQ(outcome_of(answer, "").peak.reserved_peak_bytes, 120 * kMiB);
  EXPECT_EQ(outcome_of(answer, "expandable_segments:True").retries, 0);
  AllocOptions smaller;
  smaller.memory_bytes = (643 + 45) * kMiB;
  EXPECT_EQ(outcome_of(find_alloc(written_tape(kGrowing), smaller), "").failures, 1);
}

TEST(Alloc, TheRunsOwnSettingComesFirst) {
  AllocOptions options;
  options.settings = {"max_split_size_mb:128"};
  const AllocAnswer answer = find_alloc(
      written_tape(std::string("meta run.allocator_settings expandable_segments:True\n") +
                   kGrowing),
      options);
  ASSERT_EQ(answer.devices[0].outcomes.size(), 2U);
  EXPECT_EQ(answer.devices[0].outcomes[0].settings, "expandable_segments:True");
  EXPECT_EQ(answer.devices[0].best, "");
}

TEST(Alloc, RefusesSettingsThatCannotBeRead) {
  AllocOptions options;
  options.settings = {"expandable"};
  EXPECT_THROW(find_alloc(written_tape(kGrowing), options), Error);
}

TEST(Alloc, StreamsHaveTheirOwnBlocks) {
  const AllocAnswer answer = find_alloc(
      written_tape("device cuda:0\nalloc a 30MiB stream=0\nfree a\nalloc b 30MiB stream=7\n"));
  EXPECT_EQ(outcome_of(answer, "").peak.reserved_peak_bytes, 60 * kMiB);
}

TEST(Alloc, OtherDevicesHaveNoSuchAllocator) {
  EXPECT_TRUE(find_alloc(written_tape("device cpu\nalloc a 30MiB\n")).devices.empty());
}

// A block of 20 MiB serves 19.5: the storage is charged all of it.
TEST(PeakOfBlocks, ChargesWhatTheAllocatorHandsOut) {
  PeakOptions options;
  options.allocator_settings = "";
  const PeakAnswer peak = find_peak(
      written_tape("device cuda:0\nalloc a 5MiB\nfree a\nalloc b 20447232 Gradient\n"), options);
  ASSERT_EQ(peak.devices.size(), 1U);
  EXPECT_EQ(peak.devices[0].allocated_bytes, 20 * kMiB);
  EXPECT_EQ(peak.devices[0].largest[0].allocated_bytes, 20 * kMiB);
  EXPECT_EQ(peak.devices[0].categories[static_cast<std::size_t>(Category::Gradient)], 20 * kMiB);
  ASSERT_TRUE(peak.devices[0].allocator);
  EXPECT_EQ(peak.devices[0].allocator->reserved_bytes, 20 * kMiB);
  EXPECT_NE(text_report(peak, kWide).find("20.00 MiB reserved"), std::string::npos);
  EXPECT_NE(json_report(peak).find("\"reserved_peak_bytes\": 20971520"), std::string::npos);
}

// To the allocator a resize is a new block, then the death of the old one: for a moment both live.
TEST(PeakOfBlocks, AResizeIsANewBlock) {
  PeakOptions options;
  options.allocator_settings = "";
  const PeakAnswer peak =
      find_peak(written_tape("device cuda:0\nalloc a 30MiB\nresize a 40MiB\n"), options);
  EXPECT_EQ(peak.devices[0].allocated_bytes, 40 * kMiB);
  EXPECT_EQ(peak.devices[0].allocator->reserved_peak_bytes, 70 * kMiB);
}

}  // namespace
}  // namespace tidemark
