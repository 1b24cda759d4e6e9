// A scheme is one table: rows and snapshots of a tracker that no class was written for.
#include "tidemark/libtorch/attribution/scheme.h"

#include <gtest/gtest.h>

#include "tidemark/libtorch/attribution/module_book.h"

namespace tidemark::attribution {
namespace {

constexpr CategoryName kShardCategories[] = {
    {Category::ShardedParameter, "Sharded Param"},
    {Category::UnshardedParameter, "Unsharded Param"},
    {Category::AllGather, "All Gather"},
    {Category::Other, "Rest"},
};
constexpr MomentName kShardStates[] = {
    {Moment::PreForward, "Before"},
    {Moment::PeakBackward, "Highest in the backward"},
};
constexpr Scheme kShards(kShardCategories, kShardStates);

Note born(StorageKey key, std::int64_t bytes) {
  return {.key = key, .bytes = bytes, .thread = 1, .kind = NoteKind::Born};
}

TEST(Scheme, RowsHaveItsCategoriesInItsOrder) {
  Attribution attribution(Rules{.count_at_birth = true}, nullptr, kShards);
  attribution.label(1, 100, 0, Category::ShardedParameter);
  attribution.label(2, 400, 0, Category::UnshardedParameter);
  attribution.label(3, 30, 0, Category::AllGather);
  attribution.take(born(4, 7));  // an activation: none of its categories
  const Row& row = attribution.current()[0];
  EXPECT_EQ(row.bytes[0], 100);
  EXPECT_EQ(row.bytes[1], 400);
  EXPECT_EQ(row.bytes[2], 30);
  EXPECT_EQ(row.bytes[3], 7);
  EXPECT_EQ(row.total, 537);
  attribution.label(2, 400, 0, Category::AllGather);
  EXPECT_EQ(attribution.current()[0].bytes[1], 0);
  EXPECT_EQ(attribution.current()[0].bytes[2], 430);
}

TEST(Scheme, OnlyItsMomentsOfAModuleAreKept) {
  Attribution attribution(Rules{.count_at_birth = true}, nullptr, kShards);
  ModuleBook book(attribution);
  const ModuleNumber module = book.add_module();
  book.begin_forward(module, 1, false);
  attribution.take(born(1, 100));
  book.end_forward(module, 1, false);
  book.begin_backward(module, 1);
  attribution.take({.key = 2, .bytes = 50, .thread = 1, .flags = kInBackward});
  book.end_backward(module);
  const ModuleStats& stats = book.stats(module);
  EXPECT_EQ(stats.order, (std::vector{Moment::PreForward, Moment::PeakBackward}));
  const auto& highest = stats.snapshots[static_cast<std::size_t>(Moment::PeakBackward)];
  ASSERT_EQ(highest.size(), 1u);
  EXPECT_EQ(highest[0][0].total, 150);
}

TEST(Scheme, TooManyCategoriesAreRefused) {
  const std::vector<CategoryName> many(kMostInRow + 1, {Category::Other, "Other"});
  EXPECT_THROW(Scheme(many, {}), std::length_error);
  EXPECT_THROW(Scheme({}, {}), std::length_error);
}

// Told moments, as PyTorch's FSDPMemTracker has them.
class ToldMoments : public ::testing::Test {
 protected:
  void tell(Moment moment, bool in_backward = false) {
    book_.tell(module_, moment, 1, in_backward);
  }
  void make(StorageKey key, std::int64_t bytes, int flags = 0) {
    attribution_.take({.key = key,
                       .bytes = bytes,
                       .thread = 1,
                       .kind = NoteKind::Born,
                       .flags = static_cast<std::uint8_t>(flags)});
  }
  std::vector<std::int64_t> totals(Moment moment) {
    std::vector<std::int64_t> all;
    for (const Rows& rows : book_.stats(module_).snapshots[static_cast<std::size_t>(moment)])
      all.push_back(rows.size() ? rows[0].total : 0);
    return all;
  }

  using Totals = std::vector<std::int64_t>;
  Attribution attribution_{Rules{.count_at_birth = true}, nullptr, kFsdpMemTracker};
  ModuleBook book_{attribution_};
  const ModuleNumber module_ = book_.add_module();
};

TEST_F(ToldMoments, AreSnapshotsAndBordersAreNone) {
  make(1, 1);
  book_.begin_forward(module_, 1, false);
  tell(Moment::BeforePreForward);
  make(2, 20);
  tell(Moment::AfterPreForward);
  make(3, 300);
  book_.end_forward(module_, 1, false);
  tell(Moment::BeforePostForward);
  tell(Moment::AfterPostForward);
  EXPECT_EQ(totals(Moment::BeforePreForward), Totals{1});
  EXPECT_EQ(totals(Moment::AfterPreForward), Totals{21});
  EXPECT_EQ(totals(Moment::BeforePostForward), Totals{321});
  EXPECT_EQ(totals(Moment::PeakForward), Totals{321});
  EXPECT_TRUE(totals(Moment::PreForward).empty());
  EXPECT_EQ(book_.stats(module_).order[0], Moment::PeakForward);
}

TEST_F(ToldMoments, APeakRisesOnlyWhileTheModuleRuns) {
  book_.begin_forward(module_, 1, false);
  tell(Moment::BeforePreForward);
  make(1, 10);
  book_.end_forward(module_, 1, false);
  make(2, 100);
  EXPECT_EQ(totals(Moment::PeakForward), Totals{10});
  book_.begin_forward(module_, 1, false);  // again, before its backward
  tell(Moment::BeforePreForward);
  make(3, 1000);
  EXPECT_EQ(totals(Moment::PeakForward), Totals{1110});
  EXPECT_EQ(totals(Moment::BeforePreForward), Totals{0});
}

TEST_F(ToldMoments, ACallAfterTheBackwardIsAnotherEntry) {
  for (StorageKey key : {1, 2}) {
    book_.begin_forward(module_, 1, false);
    tell(Moment::BeforePreForward);
    make(key, 10);
    book_.end_forward(module_, 1, false);
    book_.begin_backward(module_, 1);
    tell(Moment::BeforePreBackward, true);
    book_.end_backward(module_);
  }
  EXPECT_EQ(totals(Moment::BeforePreForward), (Totals{0, 10}));
  EXPECT_EQ(totals(Moment::BeforePreBackward), (Totals{10, 20}));
}

TEST_F(ToldMoments, AForwardInABackwardIsARecomputation) {
  book_.begin_forward(module_, 1, false);
  tell(Moment::BeforePreForward);
  book_.end_forward(module_, 1, false);
  book_.begin_backward(module_, 1);
  tell(Moment::BeforePreBackward, true);
  book_.begin_forward(module_, 1, true);
  tell(Moment::BeforePreForward, true);
  make(1, 1, kInBackward);  // FSDP2's own: not yet
  tell(Moment::AfterPreForward, true);
  make(2, 20, kInBackward);
  book_.end_forward(module_, 1, true);
  tell(Moment::BeforePostForward, true);
  make(3, 300, kInBackward);
  EXPECT_EQ(totals(Moment::PreRecompute), Totals{1});
  EXPECT_EQ(totals(Moment::PostRecompute), Totals{21});
  EXPECT_TRUE(totals(Moment::BeforePostForward).empty());
  EXPECT_EQ(totals(Moment::PeakBackward), Totals{321});
  const Row& row = attribution_.current()[0];
  EXPECT_EQ(row.bytes[kFsdpMemTracker.slot_of(Category::Activation)], 20);
  EXPECT_EQ(row.bytes[kFsdpMemTracker.slot_of(Category::Temporary)], 301);
}

}  // namespace
}  // namespace tidemark::attribution
