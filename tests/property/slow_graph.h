// The slow and obvious profile: at each step, ask of every storage whether it is alive.
#pragma once

#include <set>

#include "tidemark/engine/graph/accounts.h"

namespace tidemark::test {

struct SlowProfile {
  std::vector<std::int64_t> levels;
  std::vector<std::set<std::uint32_t>> alive;  // while the node of this position runs
  std::set<std::uint32_t> alive_before;
};

// Reads the options itself; of the accounts it uses nothing.
SlowProfile slow_profile(const Graph& graph, const GraphOptions& options,
                         const std::vector<NodeId>& order);

}  // namespace tidemark::test
