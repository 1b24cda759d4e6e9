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

}  // namespace
}  // namespace tidemark::attribution
