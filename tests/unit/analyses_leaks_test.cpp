// Leaks: what is left behind step after step.
#include "tidemark/engine/analyses/leaks.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/support/written_tape.h"
#include "tidemark/engine/base/error.h"
#include "tidemark/engine/tape/builder.h"

namespace tidemark {
namespace {

using test::cpu_tape;

// Steps 1 to `steps`; each allocates one storage of 10 bytes at one place and forgets it.
std::string leaking_steps(int steps) {
  std::string lines;
  for (int i = 1; i <= steps; ++i)
    lines += "step\nalloc leak" + std::to_string(i) + " 10 Activation op=aten::cat at=log.py:7" +
             " scope=net\nalloc t 500\nfree t\n";
  return lines;
}

TEST(Leaks, WhatIsLeftBehindInFinishedStepsAfterTheFirstIsALeak) {
  const auto answer = find_leaks(cpu_tape("alloc w 100 Parameter\n" + leaking_steps(5)));
  EXPECT_TRUE(answer.enough_steps);
  EXPECT_EQ(answer.finished_steps, 4);
  ASSERT_EQ(answer.sites.size(), 1u);
  const LeakSite& site = answer.sites[0];
  EXPECT_EQ(site.device, "cpu");
  EXPECT_EQ(site.scope, "net");
  EXPECT_EQ(site.op, "aten::cat");
  EXPECT_EQ(site.source, "log.py:7");
  EXPECT_EQ(site.category, Category::Activation);
  EXPECT_EQ(site.count, 3);  // of steps 2, 3 and 4
  EXPECT_EQ(site.allocated_bytes, 30);
  EXPECT_EQ(site.steps, 3);
  EXPECT_EQ(site.bytes_per_step, 10);
  EXPECT_EQ(site.first_step, 2);
  EXPECT_EQ(site.last_step, 4);
  EXPECT_EQ(answer.leaked_bytes, 30);
}

TEST(Leaks, TheLevelAtEachStepsEndIsListed) {
  const auto answer = find_leaks(cpu_tape("alloc w 100\n" + leaking_steps(3)));
  ASSERT_EQ(answer.levels.size(), 3u);  // the set-up, and the two steps that have ended
  EXPECT_EQ(answer.levels[0].step, 0);
  EXPECT_EQ(answer.levels[0].allocated_bytes, 100);
  EXPECT_EQ(answer.levels[1].allocated_bytes, 110);
  EXPECT_EQ(answer.levels[2].step, 2);
  EXPECT_EQ(answer.levels[2].allocated_bytes, 120);
}

TEST(Leaks, OptimizerStateOfTheFirstStepIsNoLeak) {
  const auto answer = find_leaks(
      cpu_tape("step\nalloc m 50 OptimizerState\nalloc v 50 OptimizerState\nstep\nstep\nstep\n"));
  EXPECT_TRUE(answer.enough_steps);
  EXPECT_TRUE(answer.sites.empty());
  EXPECT_EQ(answer.leaked_bytes, 0);
}

TEST(Leaks, OneStepAloneIsNoGrowth) {
  EXPECT_TRUE(find_leaks(cpu_tape("step\nstep\nalloc cache 9\nalloc more 9\nstep\nstep\nstep\n"))
                  .sites.empty());
}

TEST(Leaks, WhatDiesInALaterStepIsNoLeak) {
  const Tape tape =
      cpu_tape("step\nstep\nalloc a 9\nstep\nfree a\nalloc b 9\nstep\nfree b\nstep\n");
  EXPECT_TRUE(find_leaks(tape).sites.empty());
}

TEST(Leaks, FewStepsCannotShowGrowth) {
  for (int steps : {0, 1, 2, 3}) {
    const auto answer = find_leaks(cpu_tape(leaking_steps(steps)));
    EXPECT_FALSE(answer.enough_steps);
    EXPECT_TRUE(answer.sites.empty());
    EXPECT_EQ(answer.finished_steps, std::max(0, steps - 1));
  }
}

TEST(Leaks, SitesAreOneWhateverTheSignatureAndTheCaller) {
  const auto answer =
      find_leaks(cpu_tape("stack outer main.py 1\nstack inner log.py 7 under=outer\nstep\n"
                          "step\nalloc a 8 op=aten::cat sig=[2] at=inner\n"
                          "step\nalloc b 8 op=aten::cat sig=[3] at=log.py:7\nstep\n"));
  ASSERT_EQ(answer.sites.size(), 1u);
  EXPECT_EQ(answer.sites[0].count, 2);
}

TEST(Leaks, TheMostBytesComeFirstAndAllAreCounted) {
  std::string lines = "step\n";
  for (int i = 2; i <= 4; ++i)
    lines += "step\nalloc s" + std::to_string(i) + " 1 op=small\nalloc l" + std::to_string(i) +
             " 100 op=large\n";
  LeaksOptions options;
  options.top = 1;
  const auto answer = find_leaks(cpu_tape(lines), options);  // steps 2 and 3 have ended
  ASSERT_EQ(answer.sites.size(), 1u);
  EXPECT_EQ(answer.sites[0].op, "large");
  EXPECT_EQ(answer.leaked_bytes, 202);
}

TEST(Leaks, ADeviceCanBeChosenAndAnUnknownOneIsRefused) {
  const Tape tape = cpu_tape(leaking_steps(5) + "device gpu\nalloc x 1\n");
  LeaksOptions options;
  options.device = "gpu";
  EXPECT_TRUE(find_leaks(tape, options).sites.empty());
  options.device = "tpu";
  EXPECT_THROW(find_leaks(tape, options), Error);
}

TEST(Leaks, CanBeAskedWhileTheRunGoesOn) {
  TapeBuilder builder;
  LeaksAccumulator leaks(builder.tables());
  const DeviceId cpu = builder.tables().device("cpu");
  for (int step = 1; step <= 6; ++step) {
    builder.begin_step();
    leaks.add(builder.last());
    // The leaks of steps 2 to step - 1, once there are two of them.
    EXPECT_EQ(leaks.answer().leaked_bytes, step >= 4 ? 10 * (step - 2) : 0);
    builder.alloc(cpu, 10);
    leaks.add(builder.last());
  }
}

}  // namespace
}  // namespace tidemark
