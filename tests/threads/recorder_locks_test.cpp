// What the recorder leaves alone while an allocator's lock is held, and while trackers come and go.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "tests/threads/counting_taker.h"
#include "tests/threads/stand_in_engine.h"
#include "tests/threads/torch_stand_in.h"

namespace tidemark::recorder {
namespace {

constexpr Recorder::Wanted kOperators = {.operators = true};

void bear(Recorder::Caller caller) {
  static std::atomic<StorageKey> next{1 << 20};
  Recorder::instance().note_birth(next.fetch_add(16), 64, 0, caller);
}

class RecorderLocks : public testing::Test {
 protected:
  void SetUp() override { Recorder::instance().start(kOperators); }
  void TearDown() override {
    c10::t_inference_mode = false;
    c10::impl::t_keys.excluded_.bits = 0;
    Recorder::instance().stop(kOperators);
    EXPECT_FALSE(are_operators_watched());
  }
  CountingTaker taker_;
};

// In inference mode the state of dispatch does not tell where an operator begins.
TEST_F(RecorderLocks, RecordsAreAskedForByTheFirstWhoHoldsNone) {
  c10::t_inference_mode = true;
  bear(Recorder::kHoldsLock);
  EXPECT_FALSE(are_operators_watched());
  c10::t_inference_mode = false;
  bear(Recorder::kHoldsNothing);
  EXPECT_TRUE(are_operators_watched());
}

// A thread is inside an operator when records take over, and outside at its next note.
TEST_F(RecorderLocks, TheRingIsNotEmptiedWhereAnOperatorIsSeenToHaveEnded) {
  c10::impl::t_keys.excluded_.bits = 1U << static_cast<unsigned>(c10::DispatchKey::AutogradOther);
  c10::t_inference_mode = true;
  bear(Recorder::kHoldsNothing);
  ASSERT_TRUE(are_operators_watched());
  constexpr int kMany = 5000;  // more than a ring keeps where it may be emptied
  for (int i = 0; i < kMany; ++i) bear(Recorder::kHoldsLock);
  c10::t_inference_mode = false;
  c10::impl::t_keys.excluded_.bits = 0;
  const int before = taker_.heard_by_itself();
  bear(Recorder::kHoldsLock);
  EXPECT_EQ(taker_.heard_by_itself(), before);
  EXPECT_GT(taker_.heard(), before + kMany);
}

TEST(RecorderLocksOfMany, NobodyWatchesOperatorsAfterTheLastStop) {
  std::atomic<bool> is_over{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i)
    threads.emplace_back([&] {
      c10::t_inference_mode = true;
      while (!is_over) bear(Recorder::kHoldsNothing);
    });
  constexpr int kRounds = 100;
  for (int round = 0; round < kRounds; ++round) {
    Recorder::instance().start(kOperators);
    std::this_thread::yield();
    Recorder::instance().stop(kOperators);
    for (int i = 0; i < 20; ++i) std::this_thread::yield();
    EXPECT_FALSE(are_operators_watched());
  }
  is_over = true;
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace tidemark::recorder
