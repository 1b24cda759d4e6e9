// An order of nodes as numbered slots with gaps, so that a node can go anywhere in little time.
//
//   slot   0  1  2  3  4  5  6  7
//   node   a  .  b  .  c  d  .  .      to put x before d: no gap, so c, x and d are spread
//   node   a  .  b  .  c  x  d  .      over the smallest window around them that has room
//
// Comparing two nodes is comparing their slots. Spreading keeps the order of all others, so what
// is sorted by slot stays sorted. A window must be the emptier the larger it is, which makes the
// cost of spreading O(log n) squared per insertion, averaged.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tidemark/engine/graph/graph.h"

namespace tidemark {

class Slots {
 public:
  static constexpr std::uint32_t kNone = UINT32_MAX;

  // `node_count` bounds the ids; `order` gives the nodes that take part.
  Slots(std::size_t node_count, std::span<const NodeId> order);

  std::size_t capacity() const { return node_at_.size(); }
  std::uint32_t operator[](NodeId node) const { return slot_[node.value]; }
  bool contains(NodeId node) const {
    return node.value < slot_.size() && slot_[node.value] != kNone;
  }
  NodeId at(std::uint32_t slot) const { return node_at_[slot]; }
  NodeId first() const { return first_; }
  NodeId next(NodeId node) const { return next_[node.value]; }
  NodeId previous(NodeId node) const { return previous_[node.value]; }

  void swap(NodeId a, NodeId b);
  void remove(NodeId node);
  // The range of slots whose nodes changed; the node's own slot is in it.
  struct Range {
    std::uint32_t begin = 0, end = 0;
  };
  Range insert_after(NodeId previous, NodeId node);  // no previous: becomes the first

 private:
  void link(NodeId previous, NodeId node, NodeId next);
  void place(NodeId node, std::uint32_t slot);
  Range spread(NodeId node);
  std::uint32_t count_in(std::uint32_t begin, std::uint32_t end) const;

  std::vector<std::uint32_t> slot_;      // by node
  std::vector<NodeId> node_at_;          // by slot
  std::vector<NodeId> next_, previous_;  // by node
  NodeId first_, last_;
};

}  // namespace tidemark
