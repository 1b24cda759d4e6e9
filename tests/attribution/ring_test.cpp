// The ring buffer: order, drops, and many writers at once.
#include "tidemark/libtorch/recorder/ring.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace tidemark::recorder {
namespace {

struct Entry {
  std::uint32_t writer = 0;
  std::uint32_t number = 0;
};

TEST(Ring, GivesBackWhatWasPutInInOrder) {
  Ring<Entry> ring(8);
  Entry entry;
  EXPECT_FALSE(ring.pop(entry));
  for (std::uint32_t turn = 0; turn < 5; ++turn) {
    for (std::uint32_t i = 0; i < 6; ++i) EXPECT_TRUE(ring.push({turn, i}));
    EXPECT_EQ(ring.size(), 6u);
    for (std::uint32_t i = 0; i < 6; ++i) {
      ASSERT_TRUE(ring.pop(entry));
      EXPECT_EQ(entry.writer, turn);
      EXPECT_EQ(entry.number, i);
    }
    EXPECT_FALSE(ring.pop(entry));
  }
  EXPECT_EQ(ring.dropped(), 0u);
}

TEST(Ring, DropsAndCountsWhatDoesNotFit) {
  Ring<Entry> ring(4);
  for (std::uint32_t i = 0; i < 4; ++i) EXPECT_TRUE(ring.push({0, i}));
  EXPECT_FALSE(ring.push({0, 4}));
  EXPECT_FALSE(ring.push({0, 5}));
  EXPECT_EQ(ring.dropped(), 2u);
  Entry entry;
  ASSERT_TRUE(ring.pop(entry));
  EXPECT_EQ(entry.number, 0u);
  EXPECT_TRUE(ring.push({0, 6}));
}

TEST(Ring, LosesNothingWithFourWritersAndAReader) {
  constexpr std::uint32_t kWriters = 4, kEach = 20'000;
  Ring<Entry> ring(1024);
  std::vector<std::thread> writers;
  for (std::uint32_t writer = 0; writer < kWriters; ++writer)
    writers.emplace_back([&ring, writer] {
      for (std::uint32_t i = 0; i < kEach; ++i)
        while (!ring.push({writer, i})) std::this_thread::yield();
    });
  std::vector<std::uint32_t> next(kWriters, 0);
  Entry entry;
  for (std::uint32_t taken = 0; taken < kWriters * kEach;) {
    if (!ring.pop(entry)) {
      std::this_thread::yield();
      continue;
    }
    ASSERT_EQ(entry.number, next[entry.writer]++);  // each writer's own order is kept
    ++taken;
  }
  for (std::thread& writer : writers) writer.join();
  EXPECT_FALSE(ring.pop(entry));
}

}  // namespace
}  // namespace tidemark::recorder
