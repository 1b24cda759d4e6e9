// Work behind a caller: its order, its first failure, its end, with a thread and without.
#include "tidemark/engine/base/work_behind.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <future>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace tidemark {
namespace {

using Work = WorkBehind<int>;

// No thread for so little; one from the first piece on.
constexpr Work::Limits kAlone = {1'000'000, 1'000'000}, kBehind = {1, 4};

class Both : public testing::TestWithParam<Work::Limits> {};
INSTANTIATE_TEST_SUITE_P(WorkBehind, Both, testing::Values(kAlone, kBehind));

TEST_P(Both, IsDoneInTheOrderInWhichItWasHandedOver) {
  std::vector<int> done, expected;
  Work work([&](int& piece) { done.push_back(piece); }, GetParam());
  for (int i = 0; i < 1000; ++i) {
    work.hand_over(i, 1);
    expected.push_back(i);
  }
  work.finish();
  EXPECT_EQ(done, expected);
}

TEST_P(Both, TheFirstFailureIsThrownAtTheEndAndNothingBehindItIsDone) {
  std::vector<int> done;
  Work work(
      [&](int& piece) {
        if (piece == 3 || piece == 5) throw std::runtime_error(std::to_string(piece));
        done.push_back(piece);
      },
      GetParam());
  for (int i = 0; i < 100; ++i) work.hand_over(i, 1);
  try {
    work.finish();
    FAIL() << "nothing was thrown";
  } catch (const std::runtime_error& failure) {
    EXPECT_STREQ(failure.what(), "3");
  }
  EXPECT_TRUE(work.has_failed());
  EXPECT_EQ(done, (std::vector<int>{0, 1, 2}));
}

TEST_P(Both, AfterWaitingAllIsDoneAndMoreMayCome) {
  int sum = 0;
  Work work([&](int& piece) { sum += piece; }, GetParam());
  work.hand_over(1, 1);
  work.hand_over(2, 1);
  work.wait();
  EXPECT_EQ(sum, 3);
  work.hand_over(4, 1);
  work.finish();
  EXPECT_EQ(sum, 7);
}

TEST_P(Both, APieceLargerThanAllThatMayWaitIsTaken) {
  int sum = 0;
  Work work([&](int& piece) { sum += piece; }, GetParam());
  work.hand_over(1, 10'000'000);
  work.hand_over(2, 10'000'000);
  work.finish();
  EXPECT_EQ(sum, 3);
}

TEST_P(Both, WhatNobodyWaitedForIsDropped) {
  struct Piece {
    int number = 0;
    std::shared_ptr<void> told_when_dropped = nullptr;
  };
  std::vector<int> done;
  std::promise<void> dropped;
  const std::shared_future<void> second_is_gone = dropped.get_future().share();
  {
    WorkBehind<Piece> work(
        [&](Piece& piece) {
          done.push_back(piece.number);
          second_is_gone.wait();
        },
        {GetParam().thread_from, GetParam().most_waiting});
    work.hand_over({1}, 1);
    work.hand_over({2, std::shared_ptr<void>(nullptr, [&](void*) { dropped.set_value(); })}, 1);
  }
  EXPECT_EQ(std::count(done.begin(), done.end(), 2), 0);
}

TEST(WorkBehind, MoreThanMayWaitIsHandedOverWhenThereIsRoom) {
  std::promise<void> may_work;
  const std::shared_future<void> sign = may_work.get_future().share();
  Work work([&](int&) { sign.wait(); }, kBehind);
  for (int i = 0; i < 4; ++i) work.hand_over(i, 1);
  std::future<void> fifth = std::async(std::launch::async, [&] { work.hand_over(4, 1); });
  EXPECT_EQ(fifth.wait_for(std::chrono::milliseconds(50)), std::future_status::timeout);
  may_work.set_value();
  fifth.get();
  work.finish();
}

TEST(WorkBehind, AFailureIsSeenWithoutWaiting) {
  Work work([](int&) { throw std::runtime_error("at once"); }, kBehind);
  EXPECT_FALSE(work.has_failed());
  work.hand_over(1, 1);
  while (!work.has_failed()) std::this_thread::yield();
  EXPECT_THROW(work.finish(), std::runtime_error);
}

}  // namespace
}  // namespace tidemark
