// One pass over the order; the last use seen is the last use.
#include "tidemark/engine/graph/walk.h"

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
  std::int64_t reused = 0;
  std::vector<std::uint8_t> is_taken(dying.size(), 0);
  for (StorageId result : born)
    for (std::size_t i = 0; i < dying.size(); ++i) {
      if (is_taken[i] || dying[i] == result) continue;
      if (accounts.bytes(dying[i]) != accounts.bytes(result)) continue;
      if (accounts.graph().storage(dying[i]).device != accounts.graph().storage(result).device)
        continue;
      is_taken[i] = 1;
      reused += accounts.bytes(result);
      break;
    }
  return reused;
}

}  // namespace tidemark
