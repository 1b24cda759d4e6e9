// One pass over the order; the last use seen is the last use.
#include "tidemark/engine/graph/walk.h"

#include <algorithm>
#include <utility>

#include "tidemark/engine/graph/profile.h"

namespace tidemark {

Walk walk(const Accounts& accounts, std::span<const NodeId> order) {
  const Graph& graph = accounts.graph();
  Walk done;
  done.born.assign(graph.storage_count(), Walk::kNever);
  done.dies.assign(graph.storage_count(), Walk::kNever);
  for (std::uint32_t s = 0; s < graph.storage_count(); ++s)
    if (accounts.is_base(StorageId(s))) done.born[s] = Walk::kBefore;
  std::vector<NodeId> recorded;
  if (order.empty()) order = recorded = recorded_order(graph);
  done.nodes.reserve(order.size());
  const bool frees_unused = accounts.options().free_unused;
  for (NodeId node : order) {
    if (graph.kind(node) != NodeKind::Compute) continue;
    const auto position = static_cast<std::uint32_t>(done.nodes.size());
    done.nodes.push_back(node);
    for (StorageId s : graph.outputs(node))
      if (done.born[s.value] == Walk::kNever) {
        done.born[s.value] = position;
        if (frees_unused) done.dies[s.value] = position;
      }
    for (StorageId s : accounts.uses(node)) done.dies[s.value] = position;
  }
  for (std::uint32_t s = 0; s < graph.storage_count(); ++s)
    if (accounts.is_kept(StorageId(s))) done.dies[s] = Walk::kNever;
  return done;
}

std::int64_t reused_bytes(const Accounts& accounts, std::span<const StorageId> born,
                          std::span<const StorageId> dying) {
  const auto kinds_of = [&](std::span<const StorageId> storages) {
    std::vector<std::pair<std::int64_t, DeviceId>> kinds;
    for (StorageId s : storages)
      kinds.emplace_back(accounts.bytes(s), accounts.graph().storage(s).device);
    std::sort(kinds.begin(), kinds.end());
    return kinds;
  };
  const auto results = kinds_of(born), inputs = kinds_of(dying);
  std::int64_t reused = 0;
  for (auto result = results.begin(), input = inputs.begin();
       result != results.end() && input != inputs.end();) {
    if (*result == *input) reused += result->first, ++result, ++input;
    else if (*result < *input) ++result;
    else ++input;
  }
  return reused;
}

}  // namespace tidemark
