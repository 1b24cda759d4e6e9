// The verdict: four words, and the budget behind each.
#include "tidemark/engine/analyses/verdict.h"

#include <gtest/gtest.h>

#include "tests/support/numbers.h"
#include "tidemark/engine/analyses/overview.h"
#include "tidemark/engine/base/error.h"
#include "tidemark/engine/tape/text_reader.h"

namespace tidemark {
namespace {

using test::kMiB;

// A run whose tensors need so many MiB of a GPU with 10 000.
Tape run_of(std::int64_t tensors_mib, const std::string& more = "meta run.ended script\n",
            const std::string& device = "cuda:0") {
  return read_tape_text(
      "tape 1\nmeta run.kind estimate\nmeta run.steps 2\nmeta gpu.name Small\n"
      "meta gpu.memory_bytes " +
      std::to_string(10'000 * kMiB) + "\n" + more + "device " + device + "\nstep\nalloc x " +
      std::to_string(tensors_mib * kMiB) + " Activation op=aten::mm\n");
}

TEST(Verdict, FitsWhereTheWholeBudgetFits) {
  const VerdictAnswer answer = find_verdict(run_of(5'000));
  EXPECT_EQ(answer.verdict, Verdict::Fits);
  EXPECT_EQ(answer.fits(), true);
  EXPECT_EQ(answer.device, "cuda:0");
  // No matrix product: tensors and a context of 643 MiB. One block of whole MiB is a segment of its
  // own: the allocator reserves nothing beyond it.
  ASSERT_EQ(answer.budget.size(), 3u);
  EXPECT_EQ(answer.budget[0].bytes, 5'000 * kMiB);
  EXPECT_EQ(answer.budget[0].evidence, Evidence::Modelled);
  EXPECT_EQ(answer.budget[1].bytes, 643 * kMiB);
  EXPECT_EQ(answer.budget[2].bytes, 0);
  EXPECT_EQ(answer.budget[2].evidence, Evidence::Modelled);
  EXPECT_EQ(answer.budget_bytes, 5'643 * kMiB);
}

// Tensors 15 % where calls were measured on that very GPU, else 20 %; the context 17 % and 50 %.
TEST(Verdict, TheBudgetSaysHowFarItMayBeOff) {
  const auto error_of = [](const std::string& more) {
    return find_verdict(run_of(5'000, "meta run.ended script\n" + more)).budget_error_bytes;
  };
  const auto percent = [](std::int64_t mib, std::int64_t share) {
    return mib * kMiB / 100 * share;
  };
  EXPECT_EQ(error_of("meta run.calibrated_on Small\n"), percent(5'000, 15) + percent(643, 17));
  EXPECT_EQ(error_of("meta run.calibrated_on Other\n"), percent(5'000, 20) + percent(643, 50));
  EXPECT_EQ(error_of(""), percent(5'000, 20) + percent(643, 50));
}

// 16 channels of 4 MiB, 4800 KiB and half a MiB are 147 MiB.
TEST(Verdict, EachGroupOfNcclHasBuffers) {
  const VerdictAnswer answer =
      find_verdict(run_of(5'000, "meta run.ended script\nmeta run.nccl_groups 3\n"));
  ASSERT_EQ(answer.budget.size(), 4u);
  EXPECT_EQ(answer.budget[2].name, "NCCL buffers");
  EXPECT_EQ(answer.budget[2].bytes, 3 * 147 * kMiB);
  EXPECT_EQ(answer.budget[2].evidence, Evidence::Assumed);
  EXPECT_EQ(answer.budget_bytes, (5'643 + 3 * 147) * kMiB);
}

TEST(Verdict, AMatrixProductBringsWorkspaces) {
  const VerdictAnswer answer =
      find_verdict(run_of(5'000, "meta run.ended steps\nmeta used.matmul yes\n"));
  ASSERT_EQ(answer.budget.size(), 4u);
  EXPECT_EQ(answer.budget[1].name, "library workspaces");
  EXPECT_EQ(answer.budget[1].bytes, 65 * kMiB);
  EXPECT_EQ(answer.budget[1].evidence, Evidence::Assumed);
  EXPECT_EQ(answer.budget[2].bytes, 771 * kMiB);  // cuBLAS itself is loaded, too
}

TEST(Verdict, WorkspacesOnTheTapeAreNoTensors) {
  const VerdictAnswer answer = find_verdict(
      read_tape_text("tape 1\nmeta run.kind estimate\nmeta run.ended script\nmeta used.matmul yes\n"
                     "meta gpu.memory_bytes 4000000000\n"
                     "device cuda:0\nalloc a 60MiB\nalloc b 32MiB Workspace\n"));
  EXPECT_EQ(answer.tensor_bytes, 92 * kMiB);
  EXPECT_EQ(answer.budget[0].bytes, 60 * kMiB);
  EXPECT_EQ(answer.budget[1].name, "library workspaces");
  EXPECT_EQ(answer.budget[1].bytes, 32 * kMiB);
  EXPECT_EQ(answer.budget[1].evidence, Evidence::Modelled);
  EXPECT_EQ(answer.max_allocated_bytes, 92 * kMiB);
  EXPECT_EQ(answer.max_reserved_bytes, 92 * kMiB);
}

const std::string kRecorded =
    "tape 1\nmeta run.kind record\nmeta run.ended script\nmeta gpu.memory_bytes 4000000000\n"
    "meta gpu.cuda:0.max_allocated_bytes 14680064\nmeta gpu.cuda:0.max_reserved_bytes 23068672\n"
    "device cuda:0\nalloc a 11000000\nblock a 12582912\nalloc b 2MiB Workspace\n";

TEST(Verdict, ARecordedRunHasWhatTorchCounted) {
  const VerdictAnswer answer = find_verdict(read_tape_text(kRecorded));
  EXPECT_EQ(answer.max_allocated_bytes, 14 * kMiB);
  EXPECT_EQ(answer.max_reserved_bytes, 22 * kMiB);
  ASSERT_EQ(answer.budget.size(), 5u);
  EXPECT_EQ(answer.budget[0].bytes, 11'000'000);
  EXPECT_EQ(answer.budget[1].name, "allocator's rounding");
  EXPECT_EQ(answer.budget[1].bytes, 12'582'912 - 11'000'000);
  EXPECT_EQ(answer.budget[2].bytes, 2 * kMiB);
  EXPECT_EQ(answer.budget[4].bytes, 8 * kMiB);
  EXPECT_EQ(answer.budget[4].evidence, Evidence::Measured);
  EXPECT_TRUE(answer.diagnostics.all().empty());
}

TEST(Verdict, APeakThatTorchDidNotCountIsTold) {
  const VerdictAnswer answer = find_verdict(read_tape_text(kRecorded + "alloc c 1\n"));
  EXPECT_NE(answer.diagnostics.find("blocks-unheard"), nullptr);
  EXPECT_EQ(answer.max_allocated_bytes, 14 * kMiB);
}

// 60 MiB that are freed are a segment of 60 MiB; 70 MiB do not fit into it, and need another one.
TEST(Verdict, TheAllocatorsSlackIsWhatItReservesBeyondTheTensors) {
  const std::string lines =
      "tape 1\nmeta run.kind estimate\nmeta run.ended script\nmeta gpu.memory_bytes 4000000000\n"
      "device cuda:0\nalloc a 60MiB\nfree a\nalloc b 70MiB\n";
  const VerdictAnswer answer = find_verdict(read_tape_text(lines));
  EXPECT_EQ(answer.budget[0].bytes, 70 * kMiB);
  EXPECT_EQ(answer.budget.back().bytes, 60 * kMiB);
  // With expandable segments the 60 MiB grow to 80, pages of 20 MiB each.
  const VerdictAnswer growing = find_verdict(read_tape_text(
      "tape 1\nmeta run.allocator_settings expandable_segments:True\n" + lines.substr(7)));
  EXPECT_EQ(growing.budget.back().bytes, 10 * kMiB);
}

TEST(Verdict, SettingsThatCannotBeReadAreToldAndLeftOut) {
  const VerdictAnswer answer =
      find_verdict(run_of(100, "meta run.ended script\nmeta run.allocator_settings nonsense\n"));
  EXPECT_EQ(answer.budget.back().bytes, 0);
  EXPECT_NE(answer.diagnostics.find("allocator-settings"), nullptr);
}

TEST(Verdict, IsTightWhereOnlyTheTensorsFit) {
  // 9 358 + 643 is just above 10 000; the tensors themselves may fill the GPU to the brim.
  for (std::int64_t tensors : {9'358, 9'990, 10'000}) {
    const VerdictAnswer answer = find_verdict(run_of(tensors));
    EXPECT_EQ(answer.verdict, Verdict::Tight) << tensors;
    EXPECT_EQ(answer.fits(), true);
  }
  EXPECT_EQ(find_verdict(run_of(9'356)).verdict, Verdict::Fits);
}

TEST(Verdict, DoesNotFitWhereTheTensorsAloneAreTooMuch) {
  const VerdictAnswer answer = find_verdict(run_of(10'001));
  EXPECT_EQ(answer.verdict, Verdict::DoesNotFit);
  EXPECT_EQ(answer.fits(), false);
}

TEST(Verdict, DoesNotFitWhereTheRunWasLetRunOut) {
  const VerdictAnswer answer = find_verdict(run_of(100, "meta run.ended out-of-memory\n"));
  EXPECT_EQ(answer.verdict, Verdict::DoesNotFit);
}

TEST(Verdict, CannotTellWhatIsTooLargeOnlyWithoutTheCompiler) {
  const std::string uncompiled = "meta used.compile yes\n";
  const std::string reason =
      "it does not fit uncompiled, and what torch.compile saves is not known";
  for (const auto& [tensors, end] :
       {std::pair(10'001, "script"), std::pair(100, "out-of-memory")}) {
    const std::string meta = uncompiled + "meta run.ended " + end + "\n";
    const VerdictAnswer answer = find_verdict(run_of(tensors, meta));
    EXPECT_EQ(answer.verdict, Verdict::CannotTell) << end;
    EXPECT_EQ(answer.reason, reason);
    EXPECT_TRUE(answer.is_uncompiled);
  }
  const VerdictAnswer fits = find_verdict(run_of(5'000, uncompiled + "meta run.ended script\n"));
  EXPECT_EQ(fits.verdict, Verdict::Fits);
  EXPECT_EQ(fits.reason, "");
  EXPECT_TRUE(fits.is_uncompiled);
}

TEST(Verdict, IsOfAPartWhereTheRunWasEnded) {
  EXPECT_TRUE(find_verdict(run_of(100, "meta run.ended steps\n")).is_partial);
  EXPECT_FALSE(find_verdict(run_of(100)).is_partial);
}

TEST(Verdict, CannotTellWhatFailedOrWasStoppedOrNeverSaidHowItEnded) {
  const std::vector<std::pair<std::string, std::string>> runs = {
      {"meta run.ended error\nmeta run.failure \"ValueError: no\"\n", "ValueError: no"},
      {"meta run.ended error\n", "the script failed"},
      {"meta run.ended interrupted\n", "the run was interrupted"},
      {"", "the run ended before it could say how"}};
  for (const auto& [meta, reason] : runs) {
    const VerdictAnswer answer = find_verdict(run_of(100, meta));
    EXPECT_EQ(answer.verdict, Verdict::CannotTell);
    EXPECT_EQ(answer.fits(), std::nullopt);
    EXPECT_EQ(answer.reason, reason);
  }
}

TEST(Verdict, AFailedRunThatWasTooLargeBeforeDoesNotFit) {
  EXPECT_EQ(find_verdict(run_of(10'001, "meta run.ended error\n")).verdict, Verdict::DoesNotFit);
}

TEST(Verdict, CannotTellWhereNoGpuWasTouched) {
  const VerdictAnswer answer = find_verdict(run_of(100, "meta run.ended script\n", "cpu"));
  EXPECT_EQ(answer.verdict, Verdict::CannotTell);
  EXPECT_EQ(answer.reason, "no tensor was put on a GPU");
  EXPECT_TRUE(answer.budget.empty());
}

TEST(Verdict, TheFullestGpuDecidesAndStandsFirst) {
  const Tape tape = read_tape_text(
      "tape 1\nmeta run.kind estimate\nmeta run.ended script\nmeta gpu.memory_bytes 4000000000\n"
      "device cuda:0\nalloc a 1MiB\ndevice cuda:1\nalloc b 3MiB\ndevice cpu\nalloc c 9MiB\n");
  EXPECT_EQ(find_verdict(tape).device, "cuda:1");
  const Overview overview = find_overview(tape);
  ASSERT_EQ(overview.peak.devices.size(), 3u);
  EXPECT_EQ(overview.peak.devices[0].device, "cuda:1");
  EXPECT_EQ(overview.peak.devices[1].device, "cuda:0");
}

TEST(Verdict, AnotherGpuCanBeAskedAbout) {
  VerdictOptions options;
  options.gpu = GpuFacts{"Tiny", 100 * kMiB, "8.9"};
  EXPECT_EQ(find_verdict(run_of(101), options).verdict, Verdict::DoesNotFit);
  EXPECT_EQ(find_verdict(run_of(101), options).gpu.name, "Tiny");
}

TEST(Verdict, ATapeThatKnowsNoGpuHasNone) {
  const Tape tape = read_tape_text("tape 1\nalloc a 5\n");
  EXPECT_THROW(find_verdict(tape), Error);
  EXPECT_FALSE(find_overview(tape).verdict);
}

TEST(Verdict, NumbersThatDoNotReadAreNotSaid) {
  const Tape tape = read_tape_text(
      "tape 1\nmeta gpu.memory_bytes 12x\nmeta run.steps -3\nmeta run.wall_seconds nan?\nalloc a "
      "5\n");
  const Overview overview = find_overview(tape);
  EXPECT_FALSE(overview.verdict);
  EXPECT_FALSE(overview.run.steps);
  EXPECT_EQ(overview.run.wall_seconds, 0);
}

TEST(Verdict, WhatWasNotCoveredIsSaid) {
  const auto covered = [](const std::string& meta) {
    return find_overview(run_of(100, meta)).not_covered;
  };
  EXPECT_TRUE(covered("meta run.ended script\n").empty());
  ASSERT_EQ(covered("meta run.ended steps\n").size(), 1u);
  EXPECT_NE(covered("meta run.ended steps\n")[0].find("after step 2"), std::string::npos);
  EXPECT_EQ(covered("meta run.ended script\nmeta run.steps 0\n").size(), 1u);
}

TEST(Verdict, TheFirstFailedRequestHasItsMoment) {
  const Overview overview =
      find_overview(run_of(10'001,
                           "meta run.ended steps\nmeta oom.device cuda:0\nmeta oom.wanted_bytes 7\n"
                           "meta oom.allocated_bytes 5\nmeta oom.event 1\n"));
  ASSERT_TRUE(overview.run.out_of_memory);
  EXPECT_EQ(overview.run.out_of_memory->wanted_bytes, 7);
  EXPECT_EQ(overview.run.out_of_memory->at.op, "aten::mm");
  EXPECT_EQ(overview.run.out_of_memory->at.step, 1);
}

}  // namespace
}  // namespace tidemark
