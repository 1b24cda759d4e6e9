// What graphs and orders cost as they grow: no more than their headers say.
#include <gtest/gtest.h>

#include "tests/support/growth.h"
#include "tidemark/engine/graph/builder.h"
#include "tidemark/engine/graph/order.h"
#include "tidemark/engine/graph/profile.h"

namespace tidemark {
namespace {

using test::growth_by_eight;
using test::kBetweenLinearAndQuadratic;

// As many dimensions as storages; each storage depends on one.
Graph with_dimensions(int count) {
  GraphBuilder builder;
  const DeviceId device = builder.device("cpu");
  for (int i = 0; i < count; ++i) {
    SizeExpression size = parse_size("2*d" + std::to_string(i), builder.dimensions());
    builder.dimensions()[static_cast<std::size_t>(i)].hint = i;
    const StorageId storage = builder.add_storage(device, std::move(size));
    builder.add_node(NodeKind::Input, {}, {&storage, 1});
  }
  return builder.finish();
}

TEST(GraphGrowth, ADimensionMoreCostsTheSameHoweverManyThereAre) {
  const Graph graph = with_dimensions(1000);
  EXPECT_EQ(graph.storage(StorageId(999)).bytes, 1998);
  EXPECT_LT(growth_by_eight(3000, with_dimensions), kBetweenLinearAndQuadratic);
}

// Two nodes that may change places: each returns `results` storages and uses those of an input.
struct TwoWideNodes {
  explicit TwoWideNodes(int results) {
    const auto storages = [&](int count) {
      std::vector<StorageId> made;
      for (int i = 0; i < count; ++i) made.push_back(builder.add_storage(builder.device("cpu"), 1));
      return made;
    };
    const NodeId x = builder.add_node(NodeKind::Compute, {}, storages(results));
    a = builder.add_node(NodeKind::Compute, {&x, 1}, storages(results));
    b = builder.add_node(NodeKind::Compute, {&x, 1}, storages(2 * results));
    for (NodeId node : {a, b}) builder.set_trait(node, kMayReuseInput);
    graph = builder.finish();
  }
  GraphBuilder builder;
  Graph graph;
  NodeId a, b;
};

TEST(GraphGrowth, AMoveCostsWhatItsNodesReturnAndUse) {
  GraphOptions options;
  options.reuse_inputs = true;
  const auto move = [&](int results) {
    const TwoWideNodes wide(results);
    const Accounts accounts(wide.graph, options);
    Order order(accounts);
    // The second of the two writes over the results of the first node, which die there.
    EXPECT_EQ(order.peak(), 3 * results);
    order.swap(wide.a, wide.b);
    EXPECT_EQ(order.peak(), 3 * results);
    order.move_after(wide.b, wide.a);
    EXPECT_EQ(order.level_after(wide.b), 3 * results);
  };
  EXPECT_LT(growth_by_eight(2000, move), kBetweenLinearAndQuadratic);
}

}  // namespace
}  // namespace tidemark
