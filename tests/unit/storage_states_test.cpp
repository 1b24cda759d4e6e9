// A storage's state in two words: every part is kept, whatever the others are.
#include "tidemark/engine/tape/storage_states.h"

#include <gtest/gtest.h>

namespace tidemark {
namespace {

using Life = StorageState::Life;

TEST(StorageState, AnUnseenOneHasNothing) {
  const StorageState unseen;
  EXPECT_EQ(unseen.life(), Life::Unseen);
  EXPECT_FALSE(unseen.alive());
  EXPECT_EQ(unseen.bytes(), 0);
  EXPECT_EQ(unseen.category(), Category::Unknown);
  EXPECT_FALSE(unseen.device());
  EXPECT_EQ(unseen.spare(), StorageState::kUnknownSpare);
}

TEST(StorageState, ABornOneIsAliveInABlockOfUnknownSize) {
  const StorageState born(INT64_MAX, Category::Communication, DeviceId(254));
  EXPECT_TRUE(born.alive());
  EXPECT_EQ(born.bytes(), INT64_MAX);
  EXPECT_EQ(born.category(), Category::Communication);
  EXPECT_EQ(born.device(), DeviceId(254));
  EXPECT_EQ(born.spare(), StorageState::kUnknownSpare);
}

TEST(StorageState, APartThatIsSetLeavesTheOthersAlone) {
  StorageState state(7, Category::Gradient, DeviceId(3));
  state.set_spare(0);
  state.set_category(Category::Other);
  state.set_life(Life::Dead);
  state.set_bytes(5);
  state.set_spare(505);
  EXPECT_EQ(state.bytes(), 5);
  EXPECT_EQ(state.category(), Category::Other);
  EXPECT_EQ(state.device(), DeviceId(3));
  EXPECT_EQ(state.life(), Life::Dead);
  EXPECT_EQ(state.spare(), 505u);
}

// The first room comes from the system as zeros, later room is filled: both must be unseen.
TEST(StorageStates, RoomThatNobodyHasUsedIsUnseen) {
  StorageStates states;
  for (std::uint32_t subject : {0u, 9u, 500u}) {
    Event born;
    born.kind = Kind::Alloc;
    born.subject = subject;
    born.bytes = 64;
    born.device = DeviceId(0);
    states.apply(born);
  }
  std::size_t alive = 0, unseen = 0;
  for (std::uint32_t s = 0; s < states.size(); ++s) {
    alive += states[StorageId(s)].life() == Life::Alive;
    unseen += states[StorageId(s)].life() == Life::Unseen;
  }
  EXPECT_EQ(alive, 3u);
  EXPECT_EQ(unseen, states.size() - 3);
}

}  // namespace
}  // namespace tidemark
