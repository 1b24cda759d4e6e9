// A whole order under local moves: its peak after each, without walking the order again.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "tidemark/engine/graph/accounts.h"

namespace tidemark {

// A move costs O(storages and inputs of the node * log n); the peak is then known. The accounts
// must outlive it. Dependencies are the edges of the graph: a move that breaks one is refused with
// Error(BadArgument) and changes nothing, and so is a node that is not in the order. Nodes that
// write in place are nodes as all others: in a graph that has them, the caller must know which
// orders mean the same.
class Order {
 public:
  // Empty: the recorded order.
  explicit Order(const Accounts& accounts, std::span<const NodeId> order = {});
  ~Order();
  Order(Order&&) noexcept;
  Order& operator=(Order&&) noexcept;

  std::int64_t peak() const;
  // The first node at which the peak is reached; none: before the first node.
  NodeId peak_node() const;
  // While the node runs, and after it has released what it used last.
  std::int64_t level_at(NodeId node) const;
  std::int64_t level_after(NodeId node) const;

  void swap(NodeId a, NodeId b);
  void move_before(NodeId node, NodeId place);
  void move_after(NodeId node, NodeId place);

  bool can_swap(NodeId a, NodeId b) const;
  bool can_move_before(NodeId node, NodeId place) const;
  bool can_move_after(NodeId node, NodeId place) const;
  // Whether the first stands before the second.
  bool is_before(NodeId a, NodeId b) const;
  // The neighbours; none at the ends.
  NodeId next(NodeId node) const;
  NodeId previous(NodeId node) const;
  // Between these two it may stand anywhere; none: as far as the end.
  NodeId last_input(NodeId node) const;
  NodeId first_user(NodeId node) const;
  std::vector<NodeId> nodes() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tidemark
