// Lifetimes: how long storages live, and how far.
#include "tidemark/engine/analyses/lifetimes.h"

#include <gtest/gtest.h>

#include "tests/support/written_tape.h"
#include "tidemark/engine/base/error.h"
#include "tidemark/engine/tape/builder.h"

namespace tidemark {
namespace {

using test::cpu_tape;

const LifetimeGroup* group(const LifetimesAnswer& answer, Category category, LifeSpan span) {
  for (const LifetimeGroup& one : answer.groups)
    if (one.category == category && one.span == span) return &one;
  return nullptr;
}

TEST(Lifetimes, ALifeReachesAsFarAsItsDeath) {
  const auto answer = find_lifetimes(
      cpu_tape("alloc w 100 Parameter\n"                             // never freed
               "step\nphase forward\nalloc t 5 Temporary\nfree t\n"  // within the forward
               "alloc x 7 Activation\nalloc k 9 Other\n"
               "phase backward\nfree x\n"  // kept for the backward
               "step\nfree k\n"));         // into the next step
  EXPECT_EQ(answer.storages, 4);
  ASSERT_EQ(answer.groups.size(), 4u);
  EXPECT_TRUE(group(answer, Category::Parameter, LifeSpan::ToTheEnd));
  EXPECT_TRUE(group(answer, Category::Temporary, LifeSpan::WithinPhase));
  EXPECT_TRUE(group(answer, Category::Activation, LifeSpan::WithinStep));
  EXPECT_TRUE(group(answer, Category::Other, LifeSpan::AcrossSteps));
  EXPECT_EQ(answer.groups[0].category, Category::Parameter);  // most bytes first
}

TEST(Lifetimes, APhaseThatComesAgainIsAnotherPhase) {
  const auto answer = find_lifetimes(
      cpu_tape("step\nphase forward\nalloc x 7 Activation\nphase backward\n"
               "phase forward\nfree x\n"));  // two small batches before one optimizer step
  EXPECT_EQ(answer.groups.at(0).span, LifeSpan::WithinStep);
}

TEST(Lifetimes, RecomputingDoesNotEndTheBackward) {
  const auto answer = find_lifetimes(
      cpu_tape("step\nphase backward\nalloc g 7\nphase recompute\nphase backward\nfree g\n"));
  EXPECT_EQ(answer.groups.at(0).span, LifeSpan::WithinPhase);
}

TEST(Lifetimes, GroupsCountBytesAndMeanLength) {
  const auto answer =
      find_lifetimes(cpu_tape("alloc a 10 Temporary\nfree a\n"                        // 1 event
                              "alloc b 30 Activation\nmark x\nrelabel b Temporary\n"  // 5 events
                              "mark y\nmark z\nfree b\n"));
  ASSERT_EQ(answer.groups.size(), 1u);  // b is grouped by its last category
  EXPECT_EQ(answer.groups[0].count, 2);
  EXPECT_EQ(answer.groups[0].allocated_bytes, 40);
  EXPECT_EQ(answer.groups[0].largest_bytes, 30);
  EXPECT_EQ(answer.groups[0].mean_events, 3);
}

TEST(Lifetimes, TheHeaviestHaveMostBytesTimesEvents) {
  LifetimesOptions options;
  options.top = 2;
  const auto answer =
      find_lifetimes(cpu_tape("@10 alloc small 10 op=aten::a\n"  // event 0, lives 6 events: 60
                              "@20 alloc big 25 op=aten::b\n"    // event 1, lives 1 event: 25
                              "@30 free big op=aten::c\n"
                              "alloc mid 20\nmark x\nfree mid\n"  // lives 2 events: 40
                              "@90 mark end\n"),
                     options);
  ASSERT_EQ(answer.heaviest.size(), 2u);
  EXPECT_EQ(answer.heaviest[0].storage.born.op, "aten::a");
  EXPECT_EQ(answer.heaviest[0].events, 6);
  EXPECT_EQ(answer.heaviest[0].time_ns, 80);
  EXPECT_FALSE(answer.heaviest[0].died);
  EXPECT_EQ(answer.heaviest[1].storage.requested_bytes, 20);
  options.top = 3;
  const auto all = find_lifetimes(
      cpu_tape("@20 alloc big 25 op=aten::b\n@30 free big op=aten::c phase=backward\n"), options);
  ASSERT_TRUE(all.heaviest.at(0).died);
  EXPECT_EQ(all.heaviest[0].died->op, "aten::c");
  EXPECT_EQ(all.heaviest[0].died->event, 1);
  EXPECT_EQ(all.heaviest[0].time_ns, 10);
  EXPECT_EQ(all.heaviest[0].span, LifeSpan::WithinStep);
}

TEST(Lifetimes, AStorageIsShownAtItsLargest) {
  const auto answer =
      find_lifetimes(cpu_tape("alloc a 5 Activation\nresize a 50\nrelabel a Gradient\nresize a 2\n"
                              "relabel a Other\nfree a\n"));
  EXPECT_EQ(answer.heaviest.at(0).storage.requested_bytes, 50);
  EXPECT_EQ(answer.heaviest[0].storage.category, Category::Gradient);
  EXPECT_EQ(answer.groups.at(0).category, Category::Other);
  EXPECT_EQ(answer.groups[0].allocated_bytes, 50);
}

TEST(Lifetimes, AStepSelectsWhatIsBornInItAndADeviceWhatLivesThere) {
  const Tape tape =
      cpu_tape("alloc a 1\nstep\nalloc b 2\ndevice gpu\nalloc c 4\nstep\nfree b\nalloc d 8\n");
  LifetimesOptions options;
  options.step = 1;
  EXPECT_EQ(find_lifetimes(tape, options).storages, 2);
  options.device = "gpu";
  const auto answer = find_lifetimes(tape, options);
  EXPECT_EQ(answer.storages, 1);
  EXPECT_EQ(answer.groups.at(0).allocated_bytes, 4);
  options.device = "tpu";
  EXPECT_THROW(find_lifetimes(tape, options), Error);
}

TEST(Lifetimes, AReusedNumberIsAnotherLife) {
  const auto answer =
      find_lifetimes(cpu_tape("alloc a 3\nfree a\nalloc a 4\nalloc a 5\nfree a\nfree a\n"));
  EXPECT_EQ(answer.storages, 3);
  EXPECT_EQ(answer.diagnostics.find("alloc-twice")->count, 1);
  EXPECT_EQ(answer.diagnostics.find("double-free")->count, 1);
  EXPECT_FALSE(group(answer, Category::Unknown, LifeSpan::ToTheEnd));
}

TEST(Lifetimes, CanBeAskedWhileTheRunGoesOnAndAgain) {
  TapeBuilder builder;
  LifetimesAccumulator lifetimes(builder.tables());
  const StorageId a = builder.alloc(builder.tables().device("cpu"), 10);
  lifetimes.add(builder.last());
  EXPECT_EQ(lifetimes.answer().groups.at(0).span, LifeSpan::ToTheEnd);
  EXPECT_EQ(lifetimes.answer().storages, 1);
  builder.free(a);
  lifetimes.add(builder.last());
  EXPECT_EQ(lifetimes.answer().storages, 1);
  EXPECT_EQ(lifetimes.answer().groups.at(0).span, LifeSpan::WithinPhase);
}

TEST(Lifetimes, TimeThatRunsBackIsNoLength) {
  EXPECT_EQ(find_lifetimes(cpu_tape("@50 alloc a 1\n@10 free a\n")).heaviest.at(0).time_ns, 0);
}

}  // namespace
}  // namespace tidemark
