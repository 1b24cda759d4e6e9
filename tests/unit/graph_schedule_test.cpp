// Scheduling node by node, and orders under moves.
#include "tidemark/engine/graph/schedule.h"

#include <gtest/gtest.h>

#include "tests/support/small_graph.h"
#include "tidemark/engine/base/error.h"
#include "tidemark/engine/graph/order.h"
#include "tidemark/engine/graph/profile.h"

namespace tidemark {
namespace {

using test::SmallGraph;

// Two branches from x: one grows large and shrinks, the other is small.
SmallGraph branches() {
  SmallGraph small;
  small.input("x", {{"x", 1}});
  small.compute("large", {"x"}, {{"large", 100}});
  small.compute("less", {"large"}, {{"less", 2}});
  small.compute("wide", {"x"}, {{"wide", 50}});
  small.compute("narrow", {"wide"}, {{"narrow", 4}});
  small.output({"less", "narrow"});
  return small;
}

TEST(Schedule, LevelsFollowEachChoice) {
  SmallGraph small = branches();
  const NodeId large = small["large"], less = small["less"], wide = small["wide"];
  const Graph graph = small.finish();
  const Accounts accounts(graph);
  Schedule schedule(accounts);
  EXPECT_EQ(schedule.now(), (Level{1, 1}));
  EXPECT_EQ(schedule.schedule(large), (Level{101, 101}));
  EXPECT_EQ(schedule.what_if(wide), (Level{151, 151}));
  EXPECT_EQ(schedule.now(), (Level{101, 101}));
  EXPECT_EQ(schedule.schedule(less), (Level{3, 103}));
  EXPECT_EQ(schedule.schedule(wide), (Level{53, 103}));
}

TEST(Schedule, UndoRestoresLevelAndPeak) {
  SmallGraph small = branches();
  const NodeId large = small["large"], less = small["less"], wide = small["wide"];
  const Graph graph = small.finish();
  const Accounts accounts(graph);
  Schedule schedule(accounts);
  schedule.schedule(large);
  schedule.schedule(wide);
  schedule.undo();
  EXPECT_EQ(schedule.now(), (Level{101, 101}));
  EXPECT_FALSE(schedule.is_scheduled(wide));
  EXPECT_EQ(schedule.schedule(less), (Level{3, 103}));
  schedule.undo();
  schedule.undo();
  EXPECT_THROW(schedule.undo(), Error);
}

TEST(Schedule, RefusesANodeTwiceTooEarlyOrUnknown) {
  SmallGraph small = branches();
  const NodeId large = small["large"], less = small["less"];
  const Graph graph = small.finish();
  const Accounts accounts(graph);
  Schedule schedule(accounts);
  EXPECT_THROW(schedule.schedule(less), Error);
  schedule.schedule(large);
  EXPECT_THROW(schedule.schedule(large), Error);
  EXPECT_THROW(schedule.schedule(NodeId(77)), Error);
}

TEST(Schedule, ViewsThatShareAStorageButNoEdgeMayComeInAnyOrder) {
  SmallGraph small;
  small.input("x", {{"x", 1}});
  small.compute("first_view", {"x"}, {{"shared", 8}});
  small.compute("second_view", {"x"}, {{"shared"}});
  small.compute("use", {"second_view"}, {{"u", 16}});
  small.output({"use", "first_view"});
  const NodeId first = small["first_view"], second = small["second_view"], use = small["use"];
  const Graph graph = small.finish();
  const Accounts accounts(graph);
  Schedule schedule(accounts);
  EXPECT_EQ(schedule.schedule(second), (Level{9, 9}));
  EXPECT_EQ(schedule.schedule(use), (Level{25, 25}));
  EXPECT_EQ(schedule.schedule(first), (Level{25, 25}));
}

TEST(Schedule, EightThousandUsersOfOneInputCostAsManySteps) {
  GraphBuilder builder;
  const StorageId shared = builder.add_storage(builder.device("cuda:0"), 1);
  const NodeId x = builder.add_node(NodeKind::Input, {}, {&shared, 1});
  for (int i = 0; i < 8000; ++i) {
    const StorageId result = builder.add_storage(builder.device("cuda:0"), 2);
    builder.add_node(NodeKind::Compute, {&x, 1}, {&result, 1});
  }
  const Graph graph = builder.finish();
  GraphOptions options;
  options.donated = {x};
  const Accounts accounts(graph, options);
  Schedule schedule(accounts);
  std::vector<Level> levels(8000);
  schedule.schedule(recorded_order(graph), levels);
  EXPECT_EQ(levels.back(), (Level{16'000, 16'001}));
  EXPECT_EQ(levels[7998].bytes, 15'999);
}

TEST(Order, AMoveGivesThePeakOfTheNewOrder) {
  SmallGraph small = branches();
  const NodeId large = small["large"], less = small["less"], wide = small["wide"],
               narrow = small["narrow"];
  const Graph graph = small.finish();
  const Accounts accounts(graph);
  Order order(accounts, std::vector{large, wide, less, narrow});
  EXPECT_EQ(order.peak(), 1 + 100 + 50 + 2);
  EXPECT_EQ(order.peak_node(), less);
  order.move_after(wide, less);
  EXPECT_EQ(order.peak(), 1 + 100 + 2);
  EXPECT_EQ(order.nodes(), (std::vector{large, less, wide, narrow}));
  EXPECT_EQ(order.level_at(wide), 1 + 2 + 50);
  EXPECT_EQ(order.level_after(narrow), 1 + 2 + 4);
  order.swap(less, wide);
  EXPECT_EQ(order.peak(), 1 + 100 + 50 + 2);
}

TEST(Order, AMoveThatBreaksAnEdgeIsRefusedAndChangesNothing) {
  SmallGraph small = branches();
  const NodeId large = small["large"], less = small["less"], wide = small["wide"];
  const Graph graph = small.finish();
  const Accounts accounts(graph);
  Order order(accounts);
  const auto nodes = order.nodes();
  EXPECT_FALSE(order.can_move_before(less, large));
  EXPECT_THROW(order.move_before(less, large), Error);
  EXPECT_THROW(order.move_after(large, wide), Error);
  EXPECT_THROW(order.swap(large, less), Error);
  EXPECT_THROW(order.move_before(less, NodeId(0)), Error);  // an input has no place in the order
  EXPECT_EQ(order.nodes(), nodes);
  EXPECT_EQ(order.last_input(less), large);
  EXPECT_EQ(order.first_user(large), less);
}

TEST(Order, EveryQuestionAboutANodeThatIsNotInItIsRefused) {
  SmallGraph small = branches();
  const NodeId large = small["large"], x = small["x"], output = small["output"];
  const Graph graph = small.finish();
  const Accounts accounts(graph);
  const Order order(accounts);
  for (NodeId stranger : {x, output, NodeId(77), NodeId()}) {
    EXPECT_THROW(order.next(stranger), Error);
    EXPECT_THROW(order.previous(stranger), Error);
    EXPECT_THROW(order.is_before(stranger, large), Error);
    EXPECT_THROW(order.is_before(large, stranger), Error);
    EXPECT_THROW(order.can_swap(large, stranger), Error);
    EXPECT_THROW(order.level_at(stranger), Error);
    EXPECT_THROW(order.first_user(stranger), Error);
  }
}

TEST(Order, ManyMovesToTheSamePlaceMakeRoom) {
  GraphBuilder builder;
  std::vector<NodeId> nodes;
  for (int i = 0; i < 600; ++i) {
    const StorageId s = builder.add_storage(builder.device("cuda:0"), 1 + i);
    const std::span<const NodeId> from =
        i % 2 ? std::span<const NodeId>(&nodes.back(), 1) : std::span<const NodeId>();
    nodes.push_back(builder.add_node(NodeKind::Compute, from, {&s, 1}));
  }
  const Graph graph = builder.finish();
  const Accounts accounts(graph);
  Order order(accounts);
  // Each pair in turn goes behind the first pair.
  for (int i = 2; i < 600; i += 2) {
    order.move_after(nodes[i], nodes[1]);
    order.move_after(nodes[i + 1], nodes[i]);
    if (i % 50) continue;
    const auto profile = build_profile(accounts, order.nodes());
    EXPECT_EQ(order.peak(), *std::max_element(profile.begin(), profile.end()));
  }
  EXPECT_EQ(order.next(nodes[1]), nodes[598]);
  EXPECT_EQ(order.nodes().back(), nodes[3]);
}

}  // namespace
}  // namespace tidemark
