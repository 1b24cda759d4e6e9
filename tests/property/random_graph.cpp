// Random graphs, orders of them and options for them.
#include "tests/property/random_graph.h"

#include "tidemark/engine/graph/builder.h"

namespace tidemark::test {
namespace {

struct GraphWriter {
  Random& random;
  GraphBuilder builder;
  std::vector<NodeId> nodes;
  NodeId last_collective;

  StorageId new_storage() {
    const DeviceId device = builder.device(random.chance(0.2) ? "cpu" : "cuda:0");
    const auto bytes = static_cast<std::int64_t>(random.below(4) * 256 + random.below(3));
    if (random.chance(0.8)) return builder.add_storage(device, bytes);
    const std::string size = "batch*" + std::to_string(1 + random.below(9));
    return builder.add_storage(device, parse_size(size, builder.dimensions()));
  }

  std::vector<NodeId> some_nodes() {
    std::vector<NodeId> chosen;
    for (std::uint64_t i = random.below(4); i > 0 && !nodes.empty(); --i) {
      // Mostly near ones, as in models.
      const std::size_t reach =
          random.chance(0.7) ? std::min<std::size_t>(4, nodes.size()) : nodes.size();
      const std::size_t back = random.below(reach);
      chosen.push_back(nodes[nodes.size() - 1 - back]);
    }
    return chosen;
  }

  std::vector<StorageId> some_results(const std::vector<NodeId>& inputs) {
    std::vector<StorageId> results;
    for (std::uint64_t i = random.below(3); i > 0; --i) results.push_back(new_storage());
    if (!inputs.empty() && random.chance(0.3)) {
      const auto view_of = builder.so_far().outputs(inputs[0]);
      results.insert(results.end(), view_of.begin(), view_of.end());
    }
    // A view that shares a storage with another node, but no edge.
    if (builder.so_far().storage_count() > 0 && random.chance(0.05))
      results.push_back(
          StorageId(static_cast<std::uint32_t>(random.below(builder.so_far().storage_count()))));
    return results;
  }

  void add(NodeKind kind) {
    const bool takes = kind == NodeKind::Compute || kind == NodeKind::Output;
    const std::vector<NodeId> inputs = takes ? some_nodes() : std::vector<NodeId>();
    const auto results = kind == NodeKind::Output ? std::vector<StorageId>() : some_results(inputs);
    const NodeId node = builder.add_node(kind, inputs, results);
    if (kind == NodeKind::Compute) {
      if (random.chance(0.4)) builder.set_trait(node, kMayReuseInput);
      if (last_collective && random.chance(0.5)) wait(node);
      else if (random.chance(0.1)) start(node);
    }
    if (kind != NodeKind::Output) nodes.push_back(node);
  }

  void start(NodeId node) {
    builder.set_trait(node, kStartsCollective);
    last_collective = node;
  }

  // A wait needs the collective as its input; other nodes are left as they are.
  void wait(NodeId node) {
    for (NodeId input : builder.so_far().inputs(node))
      if (input == last_collective) {
        builder.set_wait(node, last_collective);
        last_collective = NodeId();
        return;
      }
  }
};

}  // namespace

Graph random_graph(Random& random, std::size_t most_nodes) {
  GraphWriter writer{random, {}, {}, {}};
  Dimensions& dimensions = writer.builder.dimensions();
  dimensions[dimensions.number_of("batch")] = {.name = "batch", .hint = 8, .lower = 1, .upper = {}};
  for (std::uint64_t i = random.below(4); i > 0; --i) writer.add(NodeKind::Input);
  for (std::uint64_t i = random.below(most_nodes); i > 0; --i)
    writer.add(random.chance(0.05) ? NodeKind::Constant : NodeKind::Compute);
  writer.add(NodeKind::Output);
  return writer.builder.finish();
}

std::vector<NodeId> random_order(Random& random, const Graph& graph) {
  std::vector<NodeId> order, waiting;
  std::vector<std::uint8_t> is_done(graph.node_count(), 0);
  for (std::uint32_t n = 0; n < graph.node_count(); ++n) {
    is_done[n] = graph.kind(NodeId(n)) != NodeKind::Compute;
    if (!is_done[n]) waiting.push_back(NodeId(n));
  }
  while (!waiting.empty()) {
    const std::size_t at = random.below(waiting.size());
    bool is_ready = true;
    for (NodeId input : graph.inputs(waiting[at])) is_ready = is_ready && is_done[input.value];
    if (!is_ready) continue;
    is_done[waiting[at].value] = 1;
    order.push_back(waiting[at]);
    waiting.erase(waiting.begin() + static_cast<std::ptrdiff_t>(at));
  }
  return order;
}

GraphOptions random_options(Random& random, const Graph& graph) {
  GraphOptions options;
  if (random.chance(0.5)) options.granularity = 512;
  options.free_unused = random.chance(0.5);
  options.hold_collective_inputs = random.chance(0.5);
  options.reuse_inputs = random.chance(0.5);
  if (random.chance(0.3))
    options.dimensions["batch"] = 1 + static_cast<std::int64_t>(random.below(100));
  if (random.chance(0.3) && !graph.devices().empty()) options.devices = {graph.devices()[0]};
  if (random.chance(0.3)) {
    for (std::uint32_t n = 0; n < graph.node_count(); ++n)
      options.releasable.push_back(random.chance(0.7));
  } else {
    for (std::uint32_t n = 0; n < graph.node_count(); ++n)
      if (graph.kind(NodeId(n)) == NodeKind::Input && random.chance(0.5))
        options.donated.push_back(NodeId(n));
  }
  return options;
}

}  // namespace tidemark::test
