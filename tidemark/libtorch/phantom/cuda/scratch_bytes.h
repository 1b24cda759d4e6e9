// Arithmetic of the rules for scratch memory.
#pragma once

#include <cstdint>

namespace tidemark::phantom {

inline std::int64_t parts(std::int64_t whole, std::int64_t part) {
  return (whole + part - 1) / part;
}

// What the allocator gives for one tensor.
inline std::int64_t in_blocks(std::int64_t bytes) { return parts(bytes, 512) * 512; }

}  // namespace tidemark::phantom
