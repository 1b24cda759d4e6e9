// Both traces of a run as one recording, in which data flow can be found.
#pragma once

#include "tidemark/engine/dataflow/recording.h"
#include "tidemark/readers/join/bound_storages.h"

namespace tidemark::join {

// Addresses and tensors of the recording are lives: nothing is used twice.
dataflow::Recording make_recording(const kineto::TraceContents& trace,
                                   const chakra::ExecutionNodes& nodes, const BoundStorages& bound);

// The address that a life has in the recording, and back.
inline std::uint64_t pointer_of_life(std::uint32_t life) { return std::uint64_t{life} + 1; }
inline std::uint32_t life_of_pointer(std::uint64_t pointer) {
  return static_cast<std::uint32_t>(pointer - 1);
}

}  // namespace tidemark::join
