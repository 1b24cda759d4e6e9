// Diff: what grew between two tapes.
#include "tidemark/engine/analyses/diff.h"

#include <gtest/gtest.h>

#include "tests/support/written_tape.h"
#include "tidemark/engine/base/error.h"
#include "tidemark/engine/tape/text_reader.h"

namespace tidemark {
namespace {

using test::cpu_tape;

void expect_is(const Difference& found, const std::string& name, std::int64_t before,
               std::int64_t after) {
  EXPECT_EQ(found.name, name);
  EXPECT_EQ(found.before, before) << name;
  EXPECT_EQ(found.after, after) << name;
}

TEST(Diff, TheSameTapeTwiceIsTheSame) {
  const Tape tape = cpu_tape("alloc w 5 Parameter op=aten::empty\nbegin m\nalloc x 3\nend m\n");
  const auto answer = find_diff(tape, tape);
  EXPECT_TRUE(answer.same);
  expect_is(answer.devices.at(0).peak, "peak", 8, 8);
  EXPECT_EQ(answer.devices[0].categories.size(), 2u);
  EXPECT_TRUE(answer.devices[0].scopes.empty());
  EXPECT_TRUE(answer.devices[0].ops.empty());
}

TEST(Diff, NamesWhatGrewByCategoryScopeAndOperator) {
  const auto answer =
      find_diff(cpu_tape("alloc w 10 Parameter op=aten::empty\n"
                         "begin a\nalloc x 5 Activation op=aten::mm\nend a\nbegin b\nend b\n"),
                cpu_tape("alloc w 10 Parameter op=aten::empty\n"
                         "begin a\nalloc x 9 Activation op=aten::mm\nend a\n"
                         "begin b\nalloc y 100 Temporary\nend b\n"));
  EXPECT_FALSE(answer.same);
  const DeviceDiff& diff = answer.devices.at(0);
  expect_is(diff.peak, "peak", 15, 119);
  ASSERT_EQ(diff.categories.size(), 3u);
  expect_is(diff.categories[0], "Parameter", 10, 10);
  expect_is(diff.categories[1], "Activation", 5, 9);
  expect_is(diff.categories[2], "Temporary", 0, 100);
  ASSERT_EQ(diff.scopes.size(), 2u);
  expect_is(diff.scopes[0], "b", 15, 119);
  expect_is(diff.scopes[1], "a", 15, 19);
  ASSERT_EQ(diff.ops.size(), 2u);
  expect_is(diff.ops[0], "(none)", 0, 100);
  expect_is(diff.ops[1], "aten::mm", 5, 9);
}

TEST(Diff, AScopesPeakIsTheHighestOfItsPhases) {
  const auto answer =
      find_diff(cpu_tape("begin m phase=forward\nalloc a 9\nend m phase=forward\nfree a\n"
                         "begin m phase=backward\nalloc b 4\nend m phase=backward\n"),
                cpu_tape("begin m phase=forward\nalloc a 2\nend m phase=forward\n"));
  expect_is(answer.devices.at(0).scopes.at(0), "m", 9, 2);
}

TEST(Diff, EqualTotalsOfOtherStuffAreNotTheSame) {
  EXPECT_FALSE(find_diff(cpu_tape("alloc a 5 Parameter\n"), cpu_tape("alloc a 5 Gradient\n")).same);
  EXPECT_FALSE(find_diff(cpu_tape("alloc a 5 op=x\n"), cpu_tape("alloc a 5 op=y\n")).same);
  EXPECT_FALSE(find_diff(cpu_tape("alloc a 5\nfree a\nbegin m\nalloc b 1\nend m\n"),
                         cpu_tape("alloc a 5\nfree a\nbegin m\nalloc b 2\nend m\n"))
                   .same);
}

TEST(Diff, DevicesOfEitherTapeAreCompared) {
  const Tape before = cpu_tape("alloc a 5\n");
  const Tape after = read_tape_text("tape 1\ndevice gpu\nalloc b 6\n");
  const auto answer = find_diff(before, after);
  ASSERT_EQ(answer.devices.size(), 2u);
  EXPECT_EQ(answer.devices[0].device, "cpu");
  expect_is(answer.devices[0].peak, "peak", 5, 0);
  EXPECT_EQ(answer.devices[1].device, "gpu");
  expect_is(answer.devices[1].peak, "peak", 0, 6);
  DiffOptions options;
  options.device = "gpu";
  ASSERT_EQ(find_diff(before, after, options).devices.size(), 1u);
  options.device = "tpu";
  EXPECT_THROW(find_diff(before, after, options), Error);
}

TEST(Diff, AStepMustBeInBothTapes) {
  const Tape two = cpu_tape("step\nalloc a 5\nstep\nalloc b 1\n");
  const Tape one = cpu_tape("step\nalloc a 7\n");
  DiffOptions options;
  options.step = 1;
  expect_is(find_diff(two, one, options).devices.at(0).peak, "peak", 5, 7);
  options.step = 2;
  EXPECT_THROW(find_diff(two, one, options), Error);
}

TEST(Diff, TopLimitsTheListsButNotTheVerdict) {
  DiffOptions options;
  options.top = 0;
  const auto answer =
      find_diff(cpu_tape("alloc a 5 op=x\n"), cpu_tape("alloc a 5 op=y\n"), options);
  EXPECT_FALSE(answer.same);
  EXPECT_TRUE(answer.devices.at(0).ops.empty());
}

TEST(Diff, DiagnosticsSayWhichTapeTheyAreOf) {
  const auto answer = find_diff(cpu_tape("alloc a 5\n"), cpu_tape("alloc a 5\nfree a\nfree a\n"));
  EXPECT_TRUE(answer.same);
  ASSERT_TRUE(answer.diagnostics.find("double-free"));
  EXPECT_EQ(answer.diagnostics.find("double-free")->where, "second tape, event 2");
  EXPECT_EQ(answer.diagnostics.find("double-free")->count, 1);
}

}  // namespace
}  // namespace tidemark
