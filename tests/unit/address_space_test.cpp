// Where segments are put: above and below each other as a driver was seen to.
#include "tidemark/engine/allocator/address_space.h"

#include <gtest/gtest.h>

namespace tidemark {
namespace {

constexpr std::int64_t kMiB = 1 << 20;

// Segments of a training run on an H200 (video_3d) lay so: the first, small ones in chunks that go
// down, four large ones above them, in 414 MiB below the first chunk, and all later ones further
// down.
TEST(AddressSpace, LargeSegmentsFindTheRoomBelowTheFirstChunk) {
  AddressSpace space;
  const std::int64_t first = space.take(2 * kMiB);
  EXPECT_EQ(space.take(2 * kMiB), first + 2 * kMiB);
  EXPECT_EQ(space.take(20 * kMiB), first + 4 * kMiB);
  const std::int64_t second = space.take(20 * kMiB), third = space.take(20 * kMiB);
  EXPECT_LT(second, first);
  EXPECT_EQ(third, second - 32 * kMiB);
  const std::int64_t large = space.take(70 * kMiB);
  EXPECT_EQ(large, first - 414 * kMiB);
  EXPECT_EQ(space.take(70 * kMiB), large + 70 * kMiB);
  EXPECT_EQ(space.take(98 * kMiB), large + 140 * kMiB);
  EXPECT_EQ(space.take(172 * kMiB), large + 238 * kMiB);
  EXPECT_LT(space.take(98 * kMiB), third);  // the room is full
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
