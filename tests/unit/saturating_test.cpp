// Sums that stop at the ends of 63 bits, and the names of categories and phases.
#include "tidemark/engine/base/saturating.h"

#include <gtest/gtest.h>

#include "tidemark/engine/base/category.h"

namespace tidemark {
namespace {

TEST(Saturating, OrdinarySumsAreOrdinary) {
  EXPECT_EQ(add_saturating(2, 3), 5);
  EXPECT_EQ(add_saturating(2, -3), -1);
  EXPECT_EQ(subtract_saturating(2, 3), -1);
  EXPECT_EQ(subtract_saturating(2, -3), 5);
}

TEST(Saturating, SumsStopAtBothEnds) {
  EXPECT_EQ(add_saturating(INT64_MAX, 1), INT64_MAX);
  EXPECT_EQ(add_saturating(INT64_MIN, -1), INT64_MIN);
  EXPECT_EQ(subtract_saturating(INT64_MIN, 1), INT64_MIN);
  EXPECT_EQ(subtract_saturating(0, INT64_MIN), INT64_MAX);
  EXPECT_EQ(subtract_saturating(-1, INT64_MIN), INT64_MAX);
}

TEST(Category, EveryNameFindsItsCategory) {
  for (std::size_t i = 0; i < kCategoryCount; ++i) {
    const auto category = static_cast<Category>(i);
    EXPECT_EQ(category_named(name_of(category)), category);
  }
  EXPECT_EQ(category_named("parameter"), std::nullopt);
}

TEST(Category, EveryNameFindsItsPhase) {
  for (std::size_t i = 0; i < kPhaseCount; ++i) {
    const auto phase = static_cast<Phase>(i);
    EXPECT_EQ(phase_named(name_of(phase)), phase);
  }
  EXPECT_EQ(phase_named(""), std::nullopt);
}

}  // namespace
}  // namespace tidemark
