// For each of many groups of nodes, the one that stands first or last in an order that changes.
//
//        c            winner of the group {a, b, c, d}: each inner place holds the better
//      /   \          of its two children, so that a node that moved plays again only
//     b     c         against those on its way to the top
//    / \   / \                                                                            .
//   a   b c   d
#pragma once

#include <span>
#include <vector>

#include "tidemark/engine/graph/graph.h"
#include "tidemark/engine/graph/slots.h"

namespace tidemark {

enum class Wins : std::uint8_t { First, Last };

class Tournaments {
 public:
  // `members`: one row of nodes per group; a node at most once in a row.
  Tournaments(const Rows<NodeId>& members, const Slots& slots, Wins wins);

  // None for a group without members.
  NodeId winner(std::size_t group) const {
    return begins_[group] == begins_[group + 1] ? NodeId() : places_[top(group)];
  }
  // The member at this place of its row has moved.
  void replay(std::size_t group, std::uint32_t place);

 private:
  std::size_t size(std::size_t group) const { return begins_[group + 1] - begins_[group]; }
  // A group of k members has 2k places: 1 is the top, k to 2k - 1 are the members.
  std::size_t top(std::size_t group) const { return 2 * std::size_t(begins_[group]) + 1; }
  NodeId better(NodeId a, NodeId b) const {
    return ((*slots_)[a] < (*slots_)[b]) == (wins_ == Wins::First) ? a : b;
  }

  const Slots* slots_;
  Wins wins_;
  std::vector<std::uint32_t> begins_;
  std::vector<NodeId> places_;
};

}  // namespace tidemark
