// Who allocates a storage and who uses it last, in the recorded order.
#pragma once

#include <vector>

#include "tidemark/engine/graph/graph.h"

namespace tidemark {

struct AliasFacts {
  std::vector<NodeId> last_user;  // by storage, outputs of the graph included; none: unused
};

AliasFacts find_alias_facts(const Graph& graph);

// Storages that the node is the first to return.
std::vector<StorageId> fresh_allocations(const Graph& graph, NodeId node);
// Storages that nobody uses after the node.
std::vector<StorageId> last_uses(const Graph& graph, const AliasFacts& facts, NodeId node);

}  // namespace tidemark
