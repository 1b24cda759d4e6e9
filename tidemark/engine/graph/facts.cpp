// Fresh allocations and last uses are the node's own rows, filtered.
#include "tidemark/engine/graph/facts.h"

namespace tidemark {

AliasFacts find_alias_facts(const Graph& graph) {
  AliasFacts facts;
  facts.last_user.resize(graph.storage_count());
  for (std::uint32_t n = 0; n < graph.node_count(); ++n)
    for (StorageId s : graph.uses(NodeId(n))) facts.last_user[s.value] = NodeId(n);
  return facts;
}

std::vector<StorageId> fresh_allocations(const Graph& graph, NodeId node) {
  std::vector<StorageId> fresh;
  for (StorageId s : graph.outputs(node))
    if (graph.allocator(s) == node) fresh.push_back(s);
  return fresh;
}

std::vector<StorageId> last_uses(const Graph& graph, const AliasFacts& facts, NodeId node) {
  std::vector<StorageId> last;
  for (StorageId s : graph.uses(node))
    if (facts.last_user[s.value] == node) last.push_back(s);
  return last;
}

}  // namespace tidemark
