// A graph as a tape: what the nodes of an order would do to memory, for every analysis.
#pragma once

#include <span>

#include "tidemark/engine/graph/accounts.h"
#include "tidemark/engine/tape/tape.h"

namespace tidemark {

// Inputs and constants are born before the first node; modules become scopes, nodes become calls.
// Storages of devices that do not count are left out. Rounding is the tape's own, by device. What
// the graph's diagnostics say, the tape's say too.
Tape tape_of_graph(const Accounts& accounts, std::span<const NodeId> order = {});

}  // namespace tidemark
