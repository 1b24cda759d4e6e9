// Nodes chosen one at a time: the level and the peak after each choice, and choices taken back.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "tidemark/engine/graph/accounts.h"

namespace tidemark {

struct Level {
  std::int64_t bytes = 0;  // alive after the node has released what it used last
  std::int64_t peak = 0;   // the highest of the schedule so far
  bool operator==(const Level&) const = default;
};

// Every call costs time proportional to the node's own inputs, results and uses. The accounts must
// outlive it. Storages are born at the first node scheduled that returns them, so every order that
// keeps inputs before their users is a valid one.
class Schedule {
 public:
  explicit Schedule(const Accounts& accounts);

  // Throws Error(BadArgument) for a node that is scheduled already or not ready. Inputs, constants
  // and outputs may be scheduled or left out: they change nothing.
  Level schedule(NodeId node);
  // All of them, with the level after each; `levels` has as many.
  void schedule(std::span<const NodeId> nodes, std::span<Level> levels);
  // Takes the last choice back; throws Error(BadArgument) when there is none.
  void undo();
  // What schedule(node) would return; nothing is changed.
  Level what_if(NodeId node) const;

  Level now() const { return now_; }
  bool is_scheduled(NodeId node) const { return (state_[node.value] & kScheduled) != 0; }
  // All its inputs are there.
  bool is_ready(NodeId node) const;
  std::span<const NodeId> order() const { return {order_.data(), count_}; }
  // Storages that cost something and are alive now.
  std::vector<StorageId> alive() const;

 private:
  struct Change {
    std::int64_t born = 0, dying = 0;
  };
  void check(NodeId node) const;
  Level after(NodeId node) const;
  Change apply(NodeId node);
  bool is_born_by(StorageId s) const { return produced_[s.value] == 0; }
  bool dies_with(StorageId s) const { return remaining_[s.value] == 1; }
  bool is_never_used(StorageId s) const {
    return accounts_->options().free_unused && remaining_[s.value] == 0;
  }

  const Accounts* accounts_;
  // Users to come, by storage; one more for what is kept, which so never comes to none.
  std::vector<std::uint32_t> remaining_;
  // Scheduled nodes that return it, by storage; one more for what is there from the start.
  std::vector<std::uint32_t> produced_;
  enum : std::uint8_t { kScheduled = 1, kComputes = 2, kIsThere = 4 };
  std::vector<std::uint8_t> state_;  // by node
  std::vector<NodeId> order_;        // the first `count_` are scheduled
  std::vector<Level> before_;        // for each of them, what was before it
  std::size_t count_ = 0;
  Level now_;
};

}  // namespace tidemark
