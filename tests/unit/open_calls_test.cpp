// Open calls: the innermost one, which one an end means, and no time lost on many.
#include "tidemark/engine/tape/open_calls.h"

#include <gtest/gtest.h>

#include "tidemark/engine/replay/verify.h"
#include "tidemark/engine/tape/builder.h"
#include "tidemark/engine/tape/text_reader.h"
#include "tidemark/engine/tape/text_writer.h"

namespace tidemark {
namespace {

const ScopeId kA(0), kB(1);

TEST(OpenCalls, TheInnermostIsTheNewestThatHasNotEnded) {
  OpenCalls open;
  EXPECT_FALSE(open.innermost());
  open.begin(kA, Phase::Other, 0);
  open.begin(kB, Phase::Other, 1);
  open.begin(kA, Phase::Other, 2);
  open.end(open.meant(kB, Phase::Other));
  EXPECT_EQ(open.innermost(), kA);
  open.end(open.meant(kA, Phase::Other));
  EXPECT_EQ(open.innermost(), kA);
  EXPECT_EQ(open.size(), 1u);
  open.end(open.meant(kA, Phase::Other));
  EXPECT_EQ(open.size(), 0u);
  EXPECT_FALSE(open.innermost());
}

TEST(OpenCalls, NoCallIsMeantOfAScopeThatIsNotOpen) {
  OpenCalls open;
  EXPECT_EQ(open.meant(ScopeId(7), Phase::Other), OpenCalls::kNone);
  open.begin(kB, Phase::Other, 0);
  EXPECT_EQ(open.meant(kA, Phase::Other), OpenCalls::kNone);
  EXPECT_EQ(open.meant(ScopeId(), Phase::Other), OpenCalls::kNone);
}

TEST(OpenCalls, AnEndMeansTheNewestCallOfItsPhase) {
  OpenCalls open;
  open.begin(kA, Phase::Backward, 0);
  open.begin(kA, Phase::Backward, 1);
  open.begin(kA, Phase::Recompute, 2);
  EXPECT_EQ(open[open.meant(kA, Phase::Backward)].begin, 1);
  EXPECT_EQ(open[open.meant(kA, Phase::Recompute)].begin, 2);
}

TEST(OpenCalls, WithoutOneOfItsPhaseTheNewestOfAllIsMeant) {
  OpenCalls open;
  open.begin(kA, Phase::Recompute, 0);
  open.begin(kA, Phase::Forward, 1);
  open.begin(kB, Phase::Optimizer, 2);
  EXPECT_EQ(open[open.meant(kA, Phase::Optimizer)].begin, 1);
}

TEST(OpenCalls, AreListedFromTheOldestOn) {
  OpenCalls open;
  for (int event = 0; event < 4; ++event) open.begin(ScopeId(3), static_cast<Phase>(event), event);
  open.end(open.meant(ScopeId(3), static_cast<Phase>(1)));
  std::vector<std::int64_t> begins;
  for (auto call = open.oldest(); call != OpenCalls::kNone; call = open.newer(call))
    begins.push_back(open[call].begin);
  EXPECT_EQ(begins, (std::vector<std::int64_t>{0, 2, 3}));
}

// The builder, the text form and the replay must agree, or a scope that was left out is filled in
// as another one.
TEST(OpenCalls, TheBuilderEndsTheCallOfThePhaseToo) {
  TapeBuilder builder;
  const ScopeId layer = builder.tables().scope("layer"), inner = builder.tables().scope("inner");
  builder.set_phase(Phase::Backward);
  builder.begin_scope(layer);
  builder.begin_scope(inner);
  builder.set_phase(Phase::Recompute);
  builder.begin_scope(layer);
  builder.set_phase(Phase::Backward);
  builder.end_scope(layer);
  EXPECT_EQ(builder.innermost_scope(), layer);  // the recomputation is still open
  builder.set_phase(Phase::Recompute);
  builder.end_scope(layer);
  EXPECT_EQ(builder.innermost_scope(), inner);
}

TEST(OpenCalls, TheTextFormLeavesOutTheScopeThatTheBuilderFillsIn) {
  const std::string text =
      "tape 1\n"
      "begin layer phase=backward\n"
      "  begin inner phase=backward\n"
      "    begin layer phase=recompute\n"
      "    end layer phase=backward\n"
      "    mark x\n"
      "    end layer phase=recompute\n"
      "  mark y\n";
  const Tape tape = read_tape_text(text);
  EXPECT_EQ(tape.tables().scope_path(tape[4].scope), "layer");
  EXPECT_EQ(tape.tables().scope_path(tape[6].scope), "inner");
  EXPECT_EQ(write_tape_text(tape).find("scope="), std::string::npos);
}

std::string repeated(const std::string& line, int times) {
  std::string lines;
  for (int i = 0; i < times; ++i) lines += line;
  return lines;
}

// A walk over all open calls at each end would take billions of steps here.
TEST(OpenCalls, TensOfThousandsOpenAtOnceCostLittle) {
  constexpr int kMany = 50'000;
  const std::string text = "tape 1\n" + repeated("begin a phase=forward\n", kMany) +
                           repeated("begin a phase=backward\n", kMany) +
                           repeated("end b\n", kMany) + repeated("end a phase=forward\n", kMany);
  const Tape tape = read_tape_text(text);
  const Diagnostics found = verify(tape);
  EXPECT_EQ(found.find("scope-not-open")->count, kMany);
  EXPECT_EQ(found.find("scope-left-open")->count, kMany);
  EXPECT_EQ(found.find("scope-left-open")->where, "event " + std::to_string(kMany));
  EXPECT_EQ(read_tape_text(write_tape_text(tape)).size(), tape.size());
}

TEST(OpenCalls, TensOfThousandsOfKindsOfDiagnosticsCostLittle) {
  Diagnostics all;
  for (int i = 0; i < 100'000; ++i) all.add("c" + std::to_string(i), Severity::Note, "", "");
  EXPECT_EQ(all.all().size(), 100'000u);
  EXPECT_EQ(all.find("c77777")->count, 1);
}

}  // namespace
}  // namespace tidemark
