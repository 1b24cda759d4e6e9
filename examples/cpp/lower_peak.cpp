// A pass over a static graph: moves nodes within their order until the peak falls no further.
#include <cstdio>
#include <string>
#include <vector>

#include "tidemark/engine/base/units.h"
#include "tidemark/engine/graph/builder.h"
#include "tidemark/engine/graph/order.h"
#include "tidemark/engine/graph/profile.h"

using tidemark::Graph;
using tidemark::NodeId;
using tidemark::NodeKind;
using tidemark::Order;

// Eight branches as a tracer records them: every large product first, then every small sum.
Graph branches() {
  tidemark::GraphBuilder builder;
  const auto device = builder.device("cuda:0");
  const auto input = builder.add_storage(device, 1 << 20);
  const NodeId x = builder.add_node(NodeKind::Input, {}, {&input, 1});
  std::vector<NodeId> products, sums;
  for (int i = 0; i < 8; ++i) {
    const auto large = builder.add_storage(device, 64 << 20);
    products.push_back(builder.add_node(NodeKind::Compute, {&x, 1}, {&large, 1}));
  }
  for (NodeId product : products) {
    const auto small = builder.add_storage(device, 4096);
    sums.push_back(builder.add_node(NodeKind::Compute, {&product, 1}, {&small, 1}));
  }
  builder.add_node(NodeKind::Output, sums, {});
  return builder.finish();
}

// Tries one move; takes it back when it does not help.
bool helps(Order& order, NodeId node, NodeId place) {
  if (node == place || order.next(node) == place || !order.can_move_before(node, place))
    return false;
  const std::int64_t before = order.peak();
  const NodeId home = order.next(node);
  order.move_before(node, place);
  if (order.peak() < before) return true;
  home ? order.move_before(node, home) : order.move_after(node, order.nodes().back());
  return false;
}

// Each result as late as its first user allows, as long as that lowers the peak.
void lower_peak(Order& order) {
  for (bool has_changed = true; has_changed;) {
    has_changed = false;
    for (NodeId node : order.nodes())
      if (const NodeId user = order.first_user(node))
        has_changed = helps(order, node, user) || has_changed;
    for (NodeId node : order.nodes())
      if (const NodeId input = order.last_input(node))
        if (const NodeId after = order.next(input))
          has_changed = helps(order, node, after) || has_changed;
  }
}

int main() {
  const Graph graph = branches();
  const tidemark::Accounts accounts(graph);
  Order order(accounts);
  std::printf("recorded order: %s\n", tidemark::format_bytes(order.peak()).c_str());
  lower_peak(order);
  std::printf("new order: %s\n", tidemark::format_bytes(order.peak()).c_str());
}
