// The bytes alive at each step of an order, and the highest of these steps explained.
#pragma once

#include <span>
#include <vector>

#include "tidemark/engine/graph/accounts.h"

namespace tidemark {

// The compute nodes in recorded order: what an empty order means below.
std::vector<NodeId> recorded_order(const Graph& graph);

// Throws Error(BadArgument) unless the order has each compute node once, after its inputs. Other
// nodes may stand in it and mean nothing: inputs and constants are there from the start.
void check_order(const Graph& graph, std::span<const NodeId> order);

// Entry 0 is what is there before the first node; then two entries for each compute node: after
// its results are born, and after what it used last has died.
std::vector<std::int64_t> build_profile(const Accounts& accounts,
                                        std::span<const NodeId> order = {});

struct AliveStorage {
  StorageId storage;
  std::int64_t bytes = 0;
  NodeId born_at;  // the node that first returns it, in this order
  NodeId dies_at;  // none: lives to the end
};

struct GraphPeak {
  std::int64_t bytes = 0;
  std::int64_t position = -1;       // in the order, compute nodes alone; -1: before the first
  NodeId node;                      // none: before the first
  std::vector<AliveStorage> alive;  // largest first; without those that cost nothing
};

GraphPeak find_graph_peak(const Accounts& accounts, std::span<const NodeId> order = {});

}  // namespace tidemark
