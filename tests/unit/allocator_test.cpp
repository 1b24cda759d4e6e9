// The caching allocator's rules, one by one, on numbers that can be followed by hand.
#include <gtest/gtest.h>

#include "tests/support/numbers.h"

#include "tidemark/engine/allocator/caching_allocator.h"

namespace tidemark {
namespace {

using test::kMiB;

CachingAllocator allocator_with(const std::string& settings,
                                std::int64_t device = AllocatorSettings::kUnlimited) {
  AllocatorOptions options;
  options.settings = parse_allocator_settings(settings);
  options.device_bytes = options.address_bytes = device;
  return CachingAllocator(options);
}

TEST(CachingAllocator, SmallBlocksShareASegment) {
  CachingAllocator model;
  const BlockId a = model.malloc(1), b = model.malloc(kMiB);
  EXPECT_EQ(model.counters().all.reserved.current, 2 * kMiB);
  EXPECT_EQ(model.address_of(b) - model.address_of(a), 512);
  EXPECT_EQ(model.counters().all.requested.current, kMiB + 1);
  EXPECT_EQ(model.counters().all.inactive_split.current, kMiB - 512);
}

// 20 MiB less 19.5 leaves half a MiB, which is not split off.
TEST(CachingAllocator, ALargeBlockKeepsARestOfUpToOneMiB) {
  CachingAllocator model;
  const BlockId first = model.malloc(5 * kMiB);
  model.free(first);
  const BlockId second = model.malloc(19 * kMiB + kMiB / 2);
  EXPECT_EQ(model.size_of(second), 20 * kMiB);
  EXPECT_EQ(model.counters().all.allocated.current, 20 * kMiB);
}

TEST(CachingAllocator, FreedNeighboursJoin) {
  CachingAllocator model;
  const BlockId a = model.malloc(512), b = model.malloc(512), c = model.malloc(512);
  model.free(a);
  model.free(c);
  model.free(b);
  const auto segments = model.snapshot();
  ASSERT_EQ(segments.size(), 1U);
  ASSERT_EQ(segments[0].blocks.size(), 1U);
  EXPECT_EQ(segments[0].blocks[0].size, 2 * kMiB);
  EXPECT_EQ(model.counters().all.inactive_split.current, 0);
}

TEST(CachingAllocator, TheSmallestBlockThatFitsIsTaken) {
  CachingAllocator model;
  const BlockId large = model.malloc(40 * kMiB), fitting = model.malloc(30 * kMiB);
  const std::int64_t place = model.address_of(fitting);
  model.free(large);
  model.free(fitting);
  EXPECT_EQ(model.address_of(model.malloc(25 * kMiB)), place);
}

TEST(CachingAllocator, StreamsDoNotShareBlocks) {
  CachingAllocator model;
  model.free(model.malloc(512, 0));
  model.malloc(512, 1);
  EXPECT_EQ(model.counters().all.segments.current, 2);
}

TEST(CachingAllocator, ABlockWaitsForTheStreamsThatUseIt) {
  AllocatorOptions options;
  options.events_pass = EventsPass::WhenTold;
  CachingAllocator model(options);
  const BlockId block = model.malloc(512);
  const std::int64_t place = model.address_of(block);
  model.record_stream(block, 0);  // its own: no reason to wait
  model.record_stream(block, 1);
  model.free(block);
  EXPECT_EQ(model.counters().all.allocated.current, 0);
  EXPECT_EQ(model.counters().all.active.current, 512);
  EXPECT_NE(model.address_of(model.malloc(512)), place);
  model.pass_events(block);
  EXPECT_EQ(model.counters().all.active.current, 512);
  EXPECT_EQ(model.address_of(model.malloc(512)), place);
}

TEST(CachingAllocator, WithoutATimeTheGpuHasCaughtUpAtTheNextRequest) {
  CachingAllocator model;
  const BlockId block = model.malloc(512);
  const std::int64_t place = model.address_of(block);
  model.record_stream(block, 1);
  model.free(block);
  EXPECT_EQ(model.counters().all.active.current, 512);
  EXPECT_EQ(model.address_of(model.malloc(512)), place);
}

TEST(CachingAllocator, AnEmptiedCacheKeepsSplitSegments) {
  CachingAllocator model;
  const BlockId a = model.malloc(512);
  model.free(model.malloc(30 * kMiB));
  model.empty_cache();
  EXPECT_EQ(model.counters().all.reserved.current, 2 * kMiB);
  model.free(a);
  model.empty_cache();
  EXPECT_EQ(model.counters().all.reserved.current, 0);
}

TEST(CachingAllocator, ARetryEmptiesTheCache) {
  CachingAllocator model = allocator_with("", 100 * kMiB);
  model.free(model.malloc(60 * kMiB));
  EXPECT_NE(model.malloc(70 * kMiB), kNoBlock);
  EXPECT_EQ(model.counters().retries, 1);
  EXPECT_EQ(model.malloc(40 * kMiB), kNoBlock);
  EXPECT_EQ(model.counters().retries, 2);
  EXPECT_EQ(model.counters().ooms, 1);
}

TEST(CachingAllocator, BlocksFromMaxSplitOnAreWhole) {
  CachingAllocator model = allocator_with("max_split_size_mb:32");
  model.free(model.malloc(64 * kMiB));
  model.malloc(10 * kMiB);  // may not have it
  EXPECT_EQ(model.counters().all.reserved.current, 74 * kMiB);
  EXPECT_EQ(model.size_of(model.malloc(50 * kMiB)), 64 * kMiB);  // within 20 MiB: may
}

// One page of 20 MiB, then as much more as is missing.
TEST(CachingAllocator, ExpandableSegmentsGrowByPages) {
  CachingAllocator model = allocator_with("expandable_segments:True");
  const BlockId a = model.malloc(15 * kMiB);
  EXPECT_EQ(model.counters().all.reserved.current, 20 * kMiB);
  const BlockId b = model.malloc(30 * kMiB);  // 5 are free, 25 are missing: two pages
  EXPECT_EQ(model.counters().all.reserved.current, 60 * kMiB);
  EXPECT_EQ(model.address_of(b) - model.address_of(a), 15 * kMiB);
  model.free(a);
  model.empty_cache();  // the free 15 MiB are no whole page; of the 15 at the end none is
  EXPECT_EQ(model.counters().all.reserved.current, 60 * kMiB);
  model.free(b);
  model.empty_cache();
  EXPECT_EQ(model.counters().all.reserved.current, 0);
  EXPECT_TRUE(model.snapshot().empty());
}

TEST(CachingAllocator, APrivatePoolKeepsItsMemoryUntilItIsReleased) {
  CachingAllocator model;
  const PoolId pool = model.add_pool();
  model.free(model.malloc(30 * kMiB, 0, pool));
  model.malloc(30 * kMiB);
  EXPECT_EQ(model.counters().all.reserved.current, 60 * kMiB);
  model.empty_cache();
  EXPECT_EQ(model.counters().all.reserved.current, 60 * kMiB);
  model.release_pool(pool);
  model.empty_cache();
  EXPECT_EQ(model.counters().all.reserved.current, 30 * kMiB);
}

TEST(CachingAllocator, WhileAGraphIsCapturedOnlyReleasedPoolsAreEmptied) {
  CachingAllocator model;
  const PoolId pool = model.add_pool();
  model.free(model.malloc(30 * kMiB, 0, pool));
  model.free(model.malloc(40 * kMiB));
  model.release_pool(pool);
  model.set_capturing(true);
  model.empty_cache();
  EXPECT_EQ(model.counters().all.reserved.current, 40 * kMiB);
  model.set_capturing(false);
  model.empty_cache();
  EXPECT_EQ(model.counters().all.reserved.current, 0);
}

// Ten thousand captures, one after the other, need the room of one.
TEST(CachingAllocator, ThePlaceOfAPoolThatHoldsNothingIsUsedAgain) {
  CachingAllocator model;
  const PoolId first = model.add_pool();
  const BlockId kept = model.malloc(30 * kMiB, 0, first);
  model.release_pool(first);
  model.empty_cache();
  const PoolId second = model.add_pool();
  EXPECT_NE(second, first);  // which holds a block
  model.free(kept);
  model.empty_pool(first);
  EXPECT_EQ(model.counters().all.reserved.current, 0);
  EXPECT_EQ(model.add_pool(), first);
}

TEST(CachingAllocator, APoolThatIsSharedAgainIsNotGivenBack) {
  CachingAllocator model;
  const PoolId pool = model.add_pool();
  model.free(model.malloc(30 * kMiB, 0, pool));
  model.release_pool(pool);
  model.share_pool(pool);
  model.empty_cache();
  model.empty_pool(pool);
  EXPECT_EQ(model.counters().all.reserved.current, 30 * kMiB);
}

// Above 70 MiB of 100, a request that needs new memory gives back what has been free for longest:
// of three free blocks the one that has seen more searches.
TEST(CachingAllocator, GarbageIsCollectedAboveTheThreshold) {
  AllocatorOptions options;
  options.settings = parse_allocator_settings("garbage_collection_threshold:0.7");
  options.limit_bytes = 100 * kMiB;
  CachingAllocator model(options);
  const BlockId old = model.malloc(20 * kMiB), young = model.malloc(35 * kMiB);
  model.free(old);
  model.free(model.malloc(30 * kMiB));  // 85 MiB: the next one collects
  model.free(young);
  std::vector<SegmentEvent> told;
  model.tell_segments(&told);
  model.malloc(512);
  ASSERT_EQ(told.size(), 2U);
  EXPECT_EQ(told[0].action, SegmentAction::Free);
  EXPECT_EQ(told[0].bytes, 20 * kMiB);
  EXPECT_EQ(told[1].action, SegmentAction::Alloc);
  EXPECT_EQ(model.counters().retries, 0);
}

// Of two equal blocks PyTorch up to 2.13 takes the lower one, later versions the older one.
TEST(CachingAllocator, BetweenEqualBlocksTheVersionDecides) {
  for (const TieBreak rule : {TieBreak::Address, TieBreak::Registration}) {
    AllocatorOptions options;
    options.settings.tie_break = rule;
    CachingAllocator model(options);
    model.place_next_segment(std::int64_t{2} << 32);
    const BlockId first = model.malloc(32 * kMiB);
    model.place_next_segment(std::int64_t{1} << 32);
    const BlockId second = model.malloc(32 * kMiB);
    model.free(first);
    model.free(second);
    const std::int64_t place = model.address_of(model.malloc(32 * kMiB));
    EXPECT_EQ(place, std::int64_t{rule == TieBreak::Address ? 1 : 2} << 32);
  }
}

TEST(CachingAllocator, RequestsThatCannotBeAreRefused) {
  CachingAllocator model;
  EXPECT_EQ(model.malloc(0), kNoBlock);
  EXPECT_EQ(model.malloc(INT64_MAX), kNoBlock);
  EXPECT_EQ(model.counters().all.reserved.current, 0);
}

}  // namespace
}  // namespace tidemark
