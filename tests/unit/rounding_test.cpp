// Rounding of requests, by device and by any unit.
#include "tidemark/engine/base/rounding.h"

#include <gtest/gtest.h>

namespace tidemark {
namespace {

TEST(Rounding, TheNextMultipleIsTaken) {
  EXPECT_EQ(rounded_up(0, 512), 0);
  EXPECT_EQ(rounded_up(1, 512), 512);
  EXPECT_EQ(rounded_up(512, 512), 512);
  EXPECT_EQ(rounded_up(513, 512), 1024);
}

TEST(Rounding, AUnitNeedNotBeAPowerOfTwo) {
  EXPECT_EQ(rounded_up(1, 300), 300);
  EXPECT_EQ(rounded_up(301, 300), 600);
  EXPECT_EQ(rounded_up(301, 1), 301);
}

TEST(Rounding, TheLargestSizesDoNotOverflow) {
  EXPECT_EQ(rounded_up(INT64_MAX, 512), INT64_MAX);
  EXPECT_GE(rounded_up(INT64_MAX - 511, 512), INT64_MAX - 511);
  EXPECT_EQ(rounded_up(INT64_MAX, 1), INT64_MAX);
}

TEST(Rounding, OnlyCudaRounds) {
  EXPECT_EQ(granularity_of("cuda"), 512);
  EXPECT_EQ(granularity_of("cuda:7"), 512);
  for (const char* name : {"cpu", "cudaish", "mps:0", "meta", ""})
    EXPECT_EQ(granularity_of(name), 1) << name;
}

}  // namespace
}  // namespace tidemark
