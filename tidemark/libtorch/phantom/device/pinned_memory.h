// The host's memory that a program pins for its copies: the CPU's own here, counted as a device of
// its own.
#pragma once

#include <c10/core/Allocator.h>

#include <cstdint>
#include <optional>

#include "tidemark/libtorch/attribution/key_index.h"

namespace tidemark::phantom {

c10::Allocator* pinned_allocator();
// Anywhere in a pinned block.
bool is_pinned(const void* data);

// What the run knows of the block that begins there; nothing for memory that is not pinned.
struct PinnedBlock {
  std::int64_t bytes = 0;
  attribution::StorageKey key = 0;
  std::uint32_t session = 0;
};
std::optional<PinnedBlock> pinned_block(const void* begin);

}  // namespace tidemark::phantom
