// Random graphs: tuples, views, shared views without an edge, unused results, several devices.
#pragma once

#include "tests/property/random_tape.h"
#include "tidemark/engine/graph/accounts.h"

namespace tidemark::test {

Graph random_graph(Random& random, std::size_t most_nodes);

// A random order that keeps every node after its inputs.
std::vector<NodeId> random_order(Random& random, const Graph& graph);

GraphOptions random_options(Random& random, const Graph& graph);

}  // namespace tidemark::test
