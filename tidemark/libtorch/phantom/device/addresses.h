// Addresses for storages without memory: unique, and never mapped.
#pragma once

#include <cstdint>

namespace tidemark::phantom {

// The first of `bytes` addresses that no live memory of this process has.
void* next_address(std::int64_t bytes);

}  // namespace tidemark::phantom
