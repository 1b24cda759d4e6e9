// Births and deaths of CUDA memory, told by PyTorch's caching allocator itself, and of pinned
// memory.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tidemark/libtorch/attribution/note.h"

namespace tidemark::recorder {

// From now on, for the rest of the process. To be called once CUDA is initialized. False where
// the recorder was built without CUDA; throws where the allocator does not tell (cudaMallocAsync).
bool attach_cuda_trace();
bool cuda_trace_is_attached();

// The block of each GPU's last birth, which no later event has told of; for one taker of notes at
// a time, who has read all notes before. `hand` is called with what is certain after it.
struct LastBlocks {
  void (*read_all)();
  void (*hand)(const attribution::Note& note);
};
void look_at_last_blocks(const LastBlocks& reader);
// In a forked child: the allocator is none of its own.
void forget_last_births();

// A block that is in use now.
struct CudaBlock {
  attribution::StorageKey key;
  std::int64_t requested_bytes, bytes;
  std::uint8_t device;
};
std::vector<CudaBlock> cuda_blocks_in_use();

// What each GPU's allocator has counted at its highest since the last restart; GPUs that have
// nothing are left out.
struct CudaHighMark {
  std::string device;
  std::int64_t allocated_bytes, reserved_bytes;
};
void restart_cuda_high_marks();
std::vector<CudaHighMark> cuda_high_marks();

}  // namespace tidemark::recorder
