// Where in an order each storage is born and dies.
#pragma once

#include "tidemark/engine/graph/accounts.h"

namespace tidemark {

// Positions count the compute nodes of the order.
//
//   position      0   1   2   3
//   node          a   b   c   d        storage of a, used by b and c:
//   a's storage   *---+---*            born 0, dies 2
struct Walk {
  static constexpr std::uint32_t kBefore = UINT32_MAX - 1;  // born before position 0
  static constexpr std::uint32_t kNever = UINT32_MAX;

  std::vector<NodeId> nodes;              // by position
  std::vector<std::uint32_t> born, dies;  // by storage
};

// `order` must be valid; empty means the recorded one.
Walk walk(const Accounts& accounts, std::span<const NodeId> order);

// Bytes of results that can be written over inputs that die at the node: each input taken once,
// by a result of the same size and device. None is both: what a node uses was born before it.
std::int64_t reused_bytes(const Accounts& accounts, std::span<const StorageId> born,
                          std::span<const StorageId> dying);

}  // namespace tidemark
