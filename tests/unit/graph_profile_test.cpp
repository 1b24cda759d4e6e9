// Profiles and peaks of static graphs, by hand.
#include "tidemark/engine/graph/profile.h"

#include <gtest/gtest.h>

#include "tests/support/small_graph.h"
#include "tidemark/engine/base/error.h"
#include "tidemark/engine/graph/facts.h"

namespace tidemark {
namespace {

using test::SmallGraph;
using Profile = std::vector<std::int64_t>;

// x -> a -> b -> output, with sizes that tell all sums apart.
SmallGraph chain() {
  SmallGraph small;
  small.input("x", {{"x", 1}});
  small.compute("a", {"x"}, {{"a", 2}});
  small.compute("b", {"a"}, {{"b", 4}});
  small.compute("c", {"b"}, {{"c", 8}});
  small.output({"c"});
  return small;
}

TEST(GraphProfile, AResultDiesAfterItsLastUse) {
  const Graph graph = chain().finish();
  EXPECT_EQ(build_profile(Accounts(graph)), (Profile{1, 3, 3, 7, 5, 13, 9}));
}

TEST(GraphProfile, ADonatedInputDiesAfterItsLastUse) {
  SmallGraph small = chain();
  const NodeId x = small["x"];
  const Graph graph = small.finish();
  GraphOptions options;
  options.donated = {x};
  EXPECT_EQ(build_profile(Accounts(graph, options)), (Profile{1, 3, 2, 6, 4, 12, 8}));
}

TEST(GraphProfile, AViewCostsNothingAndKeepsItsStorageAlive) {
  SmallGraph small;
  small.compute("a", {}, {{"a", 2}});
  small.compute("view", {"a"}, {{"a"}});
  small.compute("b", {"a"}, {{"b", 4}});
  small.compute("c", {"view"}, {{"c", 8}});
  small.output({"b", "c"});
  EXPECT_EQ(build_profile(Accounts(small.finish())), (Profile{0, 2, 2, 2, 2, 6, 6, 14, 12}));
}

TEST(GraphProfile, ATupleIsBornAtOnceAndItsPartsDieApart) {
  SmallGraph small;
  small.compute("pair", {}, {{"l", 1}, {"r", 2}});
  small.compute("left", {"pair"}, {{"l"}});
  small.compute("right", {"pair"}, {{"r"}});
  small.compute("use", {"left"}, {{"u", 4}});
  small.output({"use"});
  // The getitems use both; the right one is its storage's last user.
  EXPECT_EQ(build_profile(Accounts(small.finish())), (Profile{0, 3, 3, 3, 3, 3, 1, 5, 4}));
}

TEST(GraphProfile, AConstantCountsOnceHoweverOftenItIsRead) {
  SmallGraph small;
  small.constant("w1", {{"w", 64}});
  small.compute("a", {"w1"}, {{"a", 1}});
  small.constant("w2", {{"w"}});
  small.compute("b", {"w2", "a"}, {{"b", 2}});
  small.output({"b"});
  EXPECT_EQ(build_profile(Accounts(small.finish())), (Profile{64, 65, 65, 67, 66}));
}

TEST(GraphProfile, AnUnusedResultLivesToTheEndUnlessItIsFreedAtOnce) {
  SmallGraph small;
  small.compute("a", {}, {{"a", 1}, {"unused", 2}});
  small.compute("b", {"a"}, {{"b", 4}});
  small.compute("c", {}, {{"forgotten", 8}});
  small.output({"b"});
  const Graph graph = small.finish();
  EXPECT_EQ(build_profile(Accounts(graph)), (Profile{0, 3, 3, 7, 4, 12, 12}));
  GraphOptions options;
  options.free_unused = true;
  EXPECT_EQ(build_profile(Accounts(graph, options)), (Profile{0, 3, 3, 7, 4, 12, 4}));
}

TEST(GraphProfile, SizesAreRoundedUp) {
  SmallGraph small;
  small.compute("a", {}, {{"a", 1}});
  small.compute("b", {"a"}, {{"b", 513}});
  small.output({"b"});
  GraphOptions options;
  options.granularity = 512;
  EXPECT_EQ(build_profile(Accounts(small.finish(), options)), (Profile{0, 512, 512, 1536, 1024}));
}

TEST(GraphProfile, InputsOfACollectiveAreHeldUntilItsWait) {
  SmallGraph small;
  small.compute("a", {}, {{"a", 1}});
  const NodeId start = small.compute("reduce", {"a"}, {{"r", 2}});
  small.compute("other", {}, {{"o", 4}});
  const NodeId wait = small.compute("wait", {"reduce"}, {{"r"}});
  small.output({"wait", "other"});
  small.builder().set_trait(start, kStartsCollective);
  small.builder().set_wait(wait, start);
  const Graph graph = small.finish();
  EXPECT_EQ(build_profile(Accounts(graph)), (Profile{0, 1, 1, 3, 2, 6, 6, 6, 6}));
  GraphOptions options;
  options.hold_collective_inputs = true;
  EXPECT_EQ(build_profile(Accounts(graph, options)), (Profile{0, 1, 1, 3, 3, 7, 7, 7, 6}));
}

TEST(GraphProfile, AnElementwiseNodeWritesOverAnInputThatDies) {
  SmallGraph small;
  small.compute("a", {}, {{"a", 8}});
  const NodeId relu = small.compute("relu", {"a"}, {{"r", 8}});
  const NodeId sum = small.compute("sum", {"relu"}, {{"s", 1}});
  small.output({"sum"});
  for (NodeId node : {relu, sum}) small.builder().set_trait(node, kMayReuseInput);
  const Graph graph = small.finish();
  GraphOptions options;
  options.reuse_inputs = true;
  // The sum is smaller than what dies, so it finds no place there.
  EXPECT_EQ(build_profile(Accounts(graph, options)), (Profile{0, 8, 8, 8, 8, 9, 1}));
}

TEST(GraphProfile, DevicesThatAreNotChosenCostNothing) {
  SmallGraph small;
  small.input("x", {{"x", 1, "cpu"}});
  small.compute("a", {"x"}, {{"a", 2}});
  small.output({"a"});
  GraphOptions options;
  options.devices = {"cuda:0"};
  const Graph graph = small.finish();
  EXPECT_EQ(build_profile(Accounts(graph, options)), (Profile{0, 2, 2}));
  options.devices = {"cuda:7"};
  EXPECT_THROW(Accounts(graph, options), Error);
}

TEST(GraphProfile, OneGraphAnswersForAnyBatch) {
  GraphBuilder builder;
  const auto size = parse_size("8*batch", builder.dimensions());
  builder.dimensions()[0] = {.name = "batch", .hint = 4, .lower = 2, .upper = 64};
  const StorageId s = builder.add_storage(builder.device("cuda:0"), size);
  const NodeId node = builder.add_node(NodeKind::Compute, {}, {&s, 1});
  builder.add_node(NodeKind::Output, {&node, 1}, {});
  const Graph graph = builder.finish();
  EXPECT_EQ(build_profile(Accounts(graph)).back(), 32);
  GraphOptions options;
  options.dimensions["batch"] = 10;
  EXPECT_EQ(build_profile(Accounts(graph, options)).back(), 80);
  options.dimensions["batch"] = 65;
  EXPECT_THROW(Accounts(graph, options), Error);
  options.dimensions = {{"length", 3}};
  EXPECT_THROW(Accounts(graph, options), Error);
}

TEST(GraphProfile, AnOrderMustHaveEachNodeOnceAfterItsInputs) {
  SmallGraph small = chain();
  const NodeId a = small["a"], b = small["b"], c = small["c"];
  const Graph graph = small.finish();
  const Accounts accounts(graph);
  for (const std::vector<NodeId>& wrong : {std::vector{b, a, c}, std::vector{a, b},
                                           std::vector{a, b, c, c}, std::vector{a, b, NodeId(99)}})
    EXPECT_THROW(build_profile(accounts, wrong), Error);
  EXPECT_EQ(build_profile(accounts, std::vector{a, b, c}), build_profile(accounts));
}

TEST(GraphProfile, SizesThatCannotBeAreRefused) {
  SmallGraph past;
  past.compute("a", {}, {{"a", INT64_MAX}, {"b", 1}});
  EXPECT_THROW(Accounts(past.finish()), Error);
  SmallGraph negative;
  negative.compute("a", {}, {{"a", -1}});
  EXPECT_THROW(Accounts(negative.finish()), Error);
}

TEST(GraphPeak, SaysWhereItIsAndWhatIsAlive) {
  SmallGraph small = chain();
  const NodeId c = small["c"], b = small["b"];
  const StorageId of_x = small.storage("x"), of_b = small.storage("b"), of_c = small.storage("c");
  const Graph graph = small.finish();
  const GraphPeak peak = find_graph_peak(Accounts(graph));
  EXPECT_EQ(peak.bytes, 13);
  EXPECT_EQ(peak.position, 2);
  EXPECT_EQ(peak.node, c);
  ASSERT_EQ(peak.alive.size(), 3u);
  EXPECT_EQ(peak.alive[0].storage, of_c);
  EXPECT_EQ(peak.alive[0].dies_at, NodeId());
  EXPECT_EQ(peak.alive[1].storage, of_b);
  EXPECT_EQ(peak.alive[1].born_at, b);
  EXPECT_EQ(peak.alive[1].dies_at, c);
  EXPECT_EQ(peak.alive[2].storage, of_x);
}

TEST(GraphFacts, FreshAllocationsAndLastUsesAreOfTheRecordedOrder) {
  SmallGraph small = chain();
  const NodeId a = small["a"], b = small["b"];
  const StorageId of_a = small.storage("a");
  const Graph graph = small.finish();
  const AliasFacts facts = find_alias_facts(graph);
  EXPECT_EQ(fresh_allocations(graph, a), std::vector{of_a});
  EXPECT_EQ(last_uses(graph, facts, b), std::vector{of_a});
  EXPECT_EQ(facts.last_user[of_a.value], b);
}

TEST(GraphBuilder, RefusesInputsFromTheFutureAndUnknownStorages) {
  GraphBuilder builder;
  const NodeId later(3);
  const StorageId nothing(5);
  EXPECT_THROW(builder.add_node(NodeKind::Compute, {&later, 1}, {}), Error);
  EXPECT_THROW(builder.add_node(NodeKind::Compute, {}, {&nothing, 1}), Error);
}

}  // namespace
}  // namespace tidemark
