// A death means the storage that a plain search finds, and finding it stays cheap among many.
#include "tidemark/readers/kineto/earlier_lives.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "tests/support/growth.h"

namespace tidemark::kineto {
namespace {

TEST(EarlierLives, TheFirstOfThatSizeThatIsUsedNoMore) {
  EarlierLives lives;
  lives.add(StorageId(0), 512, 30);
  lives.add(StorageId(1), 512, 10);
  lives.add(StorageId(2), 512, 10);
  lives.add(StorageId(3), 1024, 0);
  EXPECT_FALSE(lives.take(512, 9));
  EXPECT_FALSE(lives.take(2048, 9));
  EXPECT_EQ(lives.take(512, 10), StorageId(1));
  EXPECT_EQ(lives.take(512, 30), StorageId(0));
  EXPECT_EQ(lives.take(512, 30), StorageId(2));
  EXPECT_FALSE(lives.take(512, 30));
  EXPECT_EQ(lives.take(1024, 30), StorageId(3));
}

struct Plain {
  StorageId storage;
  std::int64_t bytes = 0, last_use_ns = 0;
};

StorageId take_plainly(std::vector<Plain>& lives, std::int64_t bytes, std::int64_t time_ns) {
  const auto found = std::find_if(lives.begin(), lives.end(), [&](const Plain& one) {
    return one.bytes == bytes && one.last_use_ns <= time_ns;
  });
  if (found == lives.end()) return {};
  const StorageId storage = found->storage;
  lives.erase(found);
  return storage;
}

TEST(EarlierLives, AsAPlainSearchHasIt) {
  std::mt19937 random(7);
  const auto below = [&](int limit) { return std::uniform_int_distribution(0, limit - 1)(random); };
  for (int round = 0; round < 200; ++round) {
    EarlierLives lives;
    std::vector<Plain> plain;
    for (std::uint32_t i = 0; i < 30; ++i) {
      plain.push_back({StorageId(i), 512 * (1 + below(3)), below(40)});
      lives.add(plain.back().storage, plain.back().bytes, plain.back().last_use_ns);
    }
    for (std::int64_t time = 0; time < 40; ++time) {
      const std::int64_t bytes = 512 * (1 + below(4));
      ASSERT_EQ(lives.take(bytes, time), take_plainly(plain, bytes, time)) << "at " << time;
    }
  }
}

TEST(EarlierLives, ManyOfOneSize) {
  const auto all_in_use_until_the_end = [](int count) {
    EarlierLives lives;
    for (int i = 0; i < count; ++i) lives.add(StorageId(static_cast<std::uint32_t>(i)), 512, count);
    for (int time = 0; time < count; ++time) EXPECT_FALSE(lives.take(512, time));
    for (int i = 0; i < count; ++i) EXPECT_TRUE(lives.take(512, count));
  };
  EXPECT_LT(test::growth_by_eight(4000, all_in_use_until_the_end),
            test::kBetweenLinearAndQuadratic);
}

}  // namespace
}  // namespace tidemark::kineto
