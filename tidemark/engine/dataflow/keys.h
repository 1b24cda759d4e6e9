// Which storage is which: one key for every storage that belongs to a tensor.
#pragma once

#include <cstdint>
#include <vector>

#include "tidemark/engine/dataflow/tree.h"

namespace tidemark::dataflow {

using KeyId = Id<struct KeyTag>;

// A storage of a tensor. Several storages may be one tensor's: it changed its storage.
struct Key {
  std::uint64_t tensor_id = 0, allocation_id = 0;
  std::uint64_t pointer = 0;
  DeviceId device;
  auto operator<=>(const Key&) const = default;
};

struct Keys {
  std::vector<Key> all;                // sorted: KeyIds are numbers of this
  std::vector<KeyId> of_tensors;       // by row of Recording::tensors; none: nobody can say
  std::vector<KeyId> of_allocations;   // by row of Recording::allocations; likewise
  std::vector<std::uint32_t> tensors;  // by key: the tensor's number, from 0 without gaps
  std::uint32_t tensor_count = 0;      // how many such numbers there are
  std::uint64_t reused_addresses = 0;  // storages born where another was that nobody saw die

  std::size_t size() const { return all.size(); }
  KeyId of(TensorRow tensor) const { return tensor ? of_tensors[tensor.value] : KeyId(); }
};

// With the ids that the recorder gave.
Keys keys_as_recorded(const Recording& recording, const Tree& tree);

// With ids found from addresses, objects and times. A birth at an address that is taken starts a
// new storage: the death of the old one was not recorded, as PyTorch does not for what was there
// before the profile on a CPU.
Keys keys_as_found(const Recording& recording, const Tree& tree);

}  // namespace tidemark::dataflow
