// Walks the nodes of an execution trace as they ran: each begins, then those inside, then it ends.
//
// Ids are given when a node begins, so their order is the order of begins; a node ends before the
// next one of its thread that is not inside of it begins.
#pragma once

#include <algorithm>
#include <map>
#include <numeric>
#include <vector>

#include "tidemark/readers/chakra/execution_nodes.h"

namespace tidemark::chakra {

// Calls begin(node, depth) and end(node, depth); the depth of an outermost node is 0.
template <class Begin, class End>
void walk_nodes(const std::vector<Node>& nodes, Begin&& begin, End&& end) {
  std::vector<std::uint32_t> order(nodes.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return nodes[a].id < nodes[b].id; });
  std::map<std::uint64_t, std::vector<std::uint32_t>> open;  // by thread
  const auto close = [&](std::vector<std::uint32_t>& stack) {
    const Node& last = nodes[stack.back()];
    stack.pop_back();
    end(last, stack.size());
  };
  for (std::uint32_t i : order) {
    std::vector<std::uint32_t>& stack = open[nodes[i].thread];
    while (!stack.empty() && nodes[stack.back()].id != nodes[i].parent) close(stack);
    begin(nodes[i], stack.size());
    stack.push_back(i);
  }
  for (auto& [thread, stack] : open)
    while (!stack.empty()) close(stack);
}

}  // namespace tidemark::chakra
