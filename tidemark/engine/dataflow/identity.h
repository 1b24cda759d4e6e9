// Tells storages at the same address and tensors with changing storages apart, by time.
#pragma once

#include <cstdint>
#include <vector>

#include "tidemark/engine/dataflow/tree.h"

namespace tidemark::dataflow {

struct Ids {
  std::uint64_t tensor = kUnknown, allocation = kUnknown;
  bool operator==(const Ids&) const = default;
};

struct FoundIds {
  std::vector<Ids> tensors;            // by row of Recording::tensors
  std::vector<Ids> allocations;        // by row of Recording::allocations
  std::uint64_t reused_addresses = 0;  // births at an address where something still lived
};

// Storages are numbered from 1 as they appear. Tensors that share an object or a storage are one,
// numbered from 0; what no tensor was ever seen with has no tensor's number.
FoundIds find_ids(const Recording& recording, const Tree& tree);

}  // namespace tidemark::dataflow
