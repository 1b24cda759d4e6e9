// Free blocks in the order of best fit, beside a set of the standard library.
#include "tidemark/engine/allocator/free_blocks.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <iterator>
#include <random>
#include <set>
#include <tuple>
#include <vector>

namespace tidemark {
namespace {

class FreeBlocksTest : public testing::Test {
 protected:
  using Key = std::tuple<std::int64_t, std::uint64_t, BlockId>;

  BlockId put(std::int64_t size, std::uint64_t tie) {
    Block block;
    block.size = size;
    block.tie = tie;
    const BlockId id = blocks.add(block);
    free.insert(id, blocks);
    expected.insert({size, tie, id});
    return id;
  }
  void take(const Key& key) {
    free.erase(std::get<BlockId>(key), blocks);
    blocks.remove(std::get<BlockId>(key));
    expected.erase(key);
  }
  BlockId expected_from(std::int64_t size) const {
    const auto found = expected.lower_bound({size, 0, 0});
    return found == expected.end() ? kNoBlock : std::get<BlockId>(*found);
  }
  void expect_same_order() const {
    std::vector<BlockId> ours, theirs;
    free.for_each(blocks, [&](BlockId id) { ours.push_back(id); });
    for (const Key& key : expected) theirs.push_back(std::get<BlockId>(key));
    EXPECT_EQ(ours, theirs);
  }

  BlockTable blocks;
  FreeBlocks free;
  std::set<Key> expected;
};

TEST_F(FreeBlocksTest, NothingIsFoundInAnEmptySet) {
  EXPECT_EQ(free.find(0, blocks), kNoBlock);
  EXPECT_EQ(free.find(INT64_MAX, blocks), kNoBlock);
}

TEST_F(FreeBlocksTest, OfEqualSizesTheLowestTieComesFirst) {
  const BlockId high = put(1024, 9), low = put(1024, 4), small = put(512, 7);
  EXPECT_EQ(free.find(512, blocks), small);
  EXPECT_EQ(free.find(513, blocks), low);
  EXPECT_EQ(free.next(small, blocks), low);
  EXPECT_EQ(free.next(low, blocks), high);
  EXPECT_EQ(free.next(high, blocks), kNoBlock);
}

// Every power of two, what is just beside it, and the largest number there is.
TEST_F(FreeBlocksTest, AnySizeHasItsPlace) {
  for (int power = 0; power < 63; ++power)
    for (const std::int64_t beside : {-1, 0, 1})
      put((std::int64_t{1} << power) + beside, static_cast<std::uint64_t>(power));
  put(INT64_MAX, 0);
  expect_same_order();
  for (const Key& key : std::set(expected)) {
    const std::int64_t size = std::get<std::int64_t>(key);
    EXPECT_EQ(free.find(size, blocks), expected_from(size));
  }
}

TEST_F(FreeBlocksTest, BlocksThatComeAndGoStayInOrder) {
  std::mt19937 random(7);
  for (int i = 0; i < 20'000; ++i) {
    // Few sizes, so that many blocks are alike; few ties, so that some are the same in all.
    const auto more = static_cast<std::int64_t>(random() % 3);
    const std::int64_t size = (std::int64_t{512} << (random() % 8)) + more;
    if (random() % 8 < (i < 10'000 ? 5u : 3u)) put(size, random() % 64);
    else if (const auto key = expected.lower_bound({size, random() % 64, 0}); key != expected.end())
      take(*key);
    ASSERT_EQ(free.find(size, blocks), expected_from(size));
    if (i % 1000 == 0) expect_same_order();
  }
  while (!expected.empty()) take(*expected.begin());
  EXPECT_EQ(free.find(0, blocks), kNoBlock);
}

// A list would need five thousand million steps here, and the test minutes.
TEST_F(FreeBlocksTest, AHundredThousandBlocksOfOneSizeAreNoBurden) {
  for (std::uint64_t tie = 0; tie < 100'000; ++tie) put(512, tie);
  expect_same_order();
  while (!expected.empty()) take(*std::prev(expected.end()));
  EXPECT_EQ(free.find(0, blocks), kNoBlock);
}

}  // namespace
}  // namespace tidemark
