// Where segments are put: above and below each other as a driver was seen to.
#include "tidemark/engine/allocator/address_space.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/support/numbers.h"

namespace tidemark {
namespace {

using test::kMiB;

// Segments of a training run on an H200 (speech_ctc) lie so: the first, small ones in chunks that
// go down, a large one 414 MiB below the first chunk, 64 MiB that the driver took, and what fits
// above.
TEST(AddressSpace, LargeSegmentsFindTheRoomBelowTheFirstChunk) {
  AddressSpace space;
  const std::int64_t first = space.take(2 * kMiB);
  EXPECT_EQ(space.take(2 * kMiB), first + 2 * kMiB);
  EXPECT_EQ(space.take(20 * kMiB), first + 4 * kMiB);
  const std::int64_t second = space.take(20 * kMiB), third = space.take(20 * kMiB);
  EXPECT_LT(second, first);
  EXPECT_EQ(third, second - 32 * kMiB);
  const std::int64_t large = space.take(250 * kMiB);
  EXPECT_EQ(large, first - 414 * kMiB);
  EXPECT_EQ(space.take(64 * kMiB), large + (250 + 64) * kMiB);
  EXPECT_LT(space.take(98 * kMiB), third);  // the room is full
}

struct RecordedRun {
  std::string name;
  std::vector<std::string> words;
};

std::vector<RecordedRun> recorded_runs() {
  std::ifstream file(TIDEMARK_TEST_DATA "/segments/h200-torch2.11.txt");
  std::vector<RecordedRun> runs;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with('#')) continue;
    std::istringstream parts(line);
    RecordedRun& run = runs.emplace_back();
    parts >> run.name;
    for (std::string word; parts >> word;) run.words.push_back(word);
  }
  return runs;
}

// Of all pairs of segments that live together, how many per cent lie the other way round.
double turned_percent(const RecordedRun& run) {
  struct Segment {
    std::int64_t ours, bytes;
  };
  AddressSpace space;
  std::map<std::int64_t, Segment> alive;  // by the real place
  double pairs = 0, turned = 0;
  for (const std::string& word : run.words) {
    if (word[0] == '-') {
      const auto gone = alive.find(std::stoll(word.substr(1)));
      if (gone == alive.end()) throw std::runtime_error(run.name + ": nothing lies at " + word);
      space.give_back(gone->second.ours, gone->second.bytes);
      alive.erase(gone);
      continue;
    }
    const std::int64_t bytes = std::stoll(word.substr(1)) * 2 * kMiB;
    const std::int64_t real = std::stoll(word.substr(word.find('@') + 1));
    const std::int64_t ours = space.take(bytes);
    for (const auto& [place, other] : alive) turned += (place < real) != (other.ours < ours);
    pairs += static_cast<double>(alive.size());
    alive[real] = {ours, bytes};
  }
  return 100 * turned / std::max(pairs, 1.0);
}

// By chance it would be half of all pairs. Without the 64 MiB of the driver's it is 5.6 % in
// speech_ctc, which then was 2.2 MiB off at boundaries, 3.7 % in conformer_autocast, and 5.37 % on
// average.
TEST(AddressSpace, SegmentsLieAsOnARealGpu) {
  const std::vector<RecordedRun> runs = recorded_runs();
  ASSERT_EQ(runs.size(), 47u);
  double sum = 0;
  for (const RecordedRun& run : runs) {
    const double turned = turned_percent(run);
    sum += turned;
    EXPECT_LT(turned, 30) << run.name;
    if (run.name == "speech_ctc" || run.name == "conformer_autocast")
      EXPECT_LT(turned, 3) << run.name;
  }
  EXPECT_LT(sum / static_cast<double>(runs.size()), 5.3);
}

// The driver takes its 64 MiB once, from the room, and only where they are left in it.
TEST(AddressSpace, TheRoomIsOpenedOnce) {
  AddressSpace space;
  const std::int64_t first = space.take(32 * kMiB), room = first - 414 * kMiB;
  EXPECT_EQ(space.take(400 * kMiB), room);
  EXPECT_EQ(space.take(14 * kMiB), room + 400 * kMiB);
  space.give_back(room, 400 * kMiB);
  space.give_back(room + 400 * kMiB, 14 * kMiB);
  EXPECT_EQ(space.take(32 * kMiB), room) << "it is a gap like others now";
  EXPECT_EQ(space.take(200 * kMiB), room + 32 * kMiB);
}

TEST(AddressSpace, WhatIsGivenBackServesAgain) {
  AddressSpace space;
  const std::int64_t first = space.take(32 * kMiB), second = space.take(64 * kMiB);
  space.give_back(second, 64 * kMiB);
  EXPECT_EQ(space.take(64 * kMiB), second);
  space.give_back(first, 32 * kMiB);
  EXPECT_NE(space.take(500 * kMiB), first);
}

}  // namespace
}  // namespace tidemark
