// Profiles and peaks: births and deaths by position, then running sums.
#include "tidemark/engine/graph/profile.h"

#include <algorithm>
#include <numeric>

#include "tidemark/engine/base/error.h"
#include "tidemark/engine/graph/walk.h"

namespace tidemark {
namespace {

// Bytes that need no place of their own while the node runs, taken from its first level.
void subtract_reuse(const Accounts& accounts, const Walk& walk, std::vector<std::int64_t>& levels) {
  std::vector<StorageId> born, dying;
  for (std::uint32_t at = 0; at < walk.nodes.size(); ++at) {
    if (!accounts.reuses(walk.nodes[at])) continue;
    born.clear(), dying.clear();
    for (StorageId s : accounts.graph().outputs(walk.nodes[at]))
      if (walk.born[s.value] == at) born.push_back(s);
    for (StorageId s : accounts.uses(walk.nodes[at]))
      if (walk.dies[s.value] == at) dying.push_back(s);
    levels[2 * at + 1] -= reused_bytes(accounts, born, dying);
  }
}

AliveStorage describe(const Accounts& accounts, const Walk& walk, StorageId s) {
  const std::uint32_t born = walk.born[s.value], dies = walk.dies[s.value];
  return {.storage = s,
          .bytes = accounts.bytes(s),
          .born_at = born == Walk::kBefore ? accounts.graph().allocator(s) : walk.nodes[born],
          .dies_at = dies == Walk::kNever ? NodeId() : walk.nodes[dies]};
}

std::vector<AliveStorage> alive_at(const Accounts& accounts, const Walk& walk,
                                   std::int64_t position) {
  std::vector<AliveStorage> alive;
  for (std::uint32_t s = 0; s < walk.born.size(); ++s) {
    const bool is_born =
        walk.born[s] == Walk::kBefore || (walk.born[s] != Walk::kNever && walk.born[s] <= position);
    const bool is_dead = walk.dies[s] != Walk::kNever && walk.dies[s] < position;
    if (is_born && !is_dead && accounts.bytes(StorageId(s)) > 0)
      alive.push_back(describe(accounts, walk, StorageId(s)));
  }
  std::stable_sort(alive.begin(), alive.end(),
                   [](const auto& a, const auto& b) { return a.bytes > b.bytes; });
  return alive;
}

// Entry 2i + 1 first holds what is born at position i, entry 2i + 2 what dies there, negative;
// their running sum is the profile.
std::vector<std::int64_t> levels_of(const Accounts& accounts, const Walk& walk) {
  std::vector<std::int64_t> levels(1 + 2 * walk.nodes.size());
  levels[0] = accounts.base_bytes();
  for (std::uint32_t s = 0; s < walk.born.size(); ++s) {
    const std::int64_t bytes = accounts.bytes(StorageId(s));
    if (walk.born[s] < Walk::kBefore) levels[2 * std::size_t(walk.born[s]) + 1] += bytes;
    if (walk.dies[s] < Walk::kBefore) levels[2 * std::size_t(walk.dies[s]) + 2] -= bytes;
  }
  std::partial_sum(levels.begin(), levels.end(), levels.begin());
  if (accounts.options().reuse_inputs) subtract_reuse(accounts, walk, levels);
  return levels;
}

}  // namespace

std::vector<NodeId> recorded_order(const Graph& graph) {
  std::vector<NodeId> order;
  order.reserve(graph.node_count());
  for (std::uint32_t n = 0; n < graph.node_count(); ++n)
    if (graph.kind(NodeId(n)) == NodeKind::Compute) order.push_back(NodeId(n));
  return order;
}

void check_order(const Graph& graph, std::span<const NodeId> order) {
  std::vector<std::uint8_t> is_done(graph.node_count(), 0);
  std::size_t missing = 0;
  for (std::uint32_t n = 0; n < graph.node_count(); ++n) {
    is_done[n] = graph.kind(NodeId(n)) != NodeKind::Compute;
    missing += !is_done[n];
  }
  for (NodeId node : order) {
    if (node.value >= graph.node_count())
      throw Error(ErrorCode::BadArgument, "the order has a node that is not of this graph");
    if (graph.kind(node) != NodeKind::Compute) continue;
    if (is_done[node.value])
      throw Error(ErrorCode::BadArgument, "a node stands in the order twice", graph.name(node));
    for (NodeId input : graph.inputs(node))
      if (!is_done[input.value])
        throw Error(
            ErrorCode::BadArgument,
            graph.name(node) + " stands in the order before its input " + graph.name(input));
    is_done[node.value] = 1;
    --missing;
  }
  if (missing)
    throw Error(ErrorCode::BadArgument,
                "the order leaves out " + std::to_string(missing) + " nodes");
}

std::vector<std::int64_t> build_profile(const Accounts& accounts, std::span<const NodeId> order) {
  if (!order.empty()) check_order(accounts.graph(), order);
  return levels_of(accounts, walk(accounts, order));
}

GraphPeak find_graph_peak(const Accounts& accounts, std::span<const NodeId> order) {
  if (!order.empty()) check_order(accounts.graph(), order);
  const Walk steps = walk(accounts, order);
  const auto levels = levels_of(accounts, steps);
  const auto highest = std::max_element(levels.begin(), levels.end());
  GraphPeak peak;
  peak.bytes = *highest;
  // Levels after a release are never above the one before it: the entry is 0 or an odd one.
  peak.position = (highest - levels.begin() + 1) / 2 - 1;
  if (peak.position >= 0) peak.node = steps.nodes[static_cast<std::size_t>(peak.position)];
  peak.alive = alive_at(accounts, steps, peak.position);
  return peak;
}

}  // namespace tidemark
