// A forward and a backward graph as one run.
#include "tidemark/engine/graph/interaction.h"

#include <gtest/gtest.h>

#include "tests/support/small_graph.h"

namespace tidemark {
namespace {

using test::SmallGraph;

// Forward: weight 1 and x 2 give saved 4 and loss 8, and 16 that no backward needs.
// Backward: takes the weight, saved, and a tangent of 32 from outside; returns a gradient of 64.
struct Pair {
  Pair() {
    SmallGraph f;
    f.input("primals_1", {{"weight", 1}});
    f.input("primals_2", {{"x", 2}});
    f.compute("act", {"primals_1", "primals_2"}, {{"saved", 4}});
    f.compute("loss", {"act"}, {{"loss", 8}, {"extra", 16}});
    f.output({"loss", "act", "primals_1"});
    SmallGraph b;
    b.input("primals_1", {{"weight", 1}});
    b.input("act", {{"saved", 4}});
    b.input("tangents_1", {{"tangent", 32}});
    b.compute("grad", {"primals_1", "act", "tangents_1"}, {{"grad", 64}});
    b.compute("shaped", {"grad"}, {{"shaped", 128}});
    b.output({"shaped"});
    graphs.same.resize(5);
    graphs.same[b.storage("weight").value] = f.storage("weight");
    graphs.same[b.storage("saved").value] = f.storage("saved");
    graphs.primals = {f["primals_1"], f["primals_2"]};
    kept = {b["primals_1"], b["tangents_1"]};
    forward = f.finish();
    backward = b.finish();
    graphs.forward = &forward;
    graphs.backward = &backward;
  }
  Graph forward, backward;
  JointGraphs graphs;
  std::vector<NodeId> kept;
};

TEST(Interaction, BaselineIsWhatTheForwardReturnsAndTheBackwardDoesNotTake) {
  const Pair pair;
  EXPECT_EQ(find_interaction(pair.graphs).baseline_bytes, 8 + 16);
}

TEST(Interaction, PrimalsAndInputsFromOutsideAreNotReleased) {
  const Pair pair;
  EXPECT_EQ(find_interaction(pair.graphs).not_releasable, pair.kept);
}

TEST(Interaction, TheJointPeakIsTheHigherOfTheTwo) {
  const Pair pair;
  const JointPeak peak = find_joint_peak(pair.graphs);
  EXPECT_EQ(peak.forward_bytes, 1 + 2 + 4 + 8 + 16);
  // grad: 24 of baseline, 1 + 4 + 32 of inputs, 64; then 4 is released and shaped comes.
  EXPECT_EQ(peak.backward_bytes, 24 + (1 + 32) + 64 + 128);
  EXPECT_EQ(peak.bytes, peak.backward_bytes);
  EXPECT_TRUE(peak.is_in_backward);
}

TEST(Interaction, SizesFollowTheOptions) {
  const Pair pair;
  GraphOptions options;
  options.granularity = 512;
  EXPECT_EQ(find_interaction(pair.graphs, options).baseline_bytes, 2 * 512);
}

}  // namespace
}  // namespace tidemark
