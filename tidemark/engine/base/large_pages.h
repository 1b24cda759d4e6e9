// A hint to the system for big arrays; nothing depends on it.
#pragma once

#include <cstddef>

namespace tidemark {

// Asks for large pages behind this memory, where the system offers them: first touch of a tape of
// millions of events is then a few hundred page faults instead of a hundred thousand.
void prefer_large_pages(void* memory, std::size_t size_bytes) noexcept;

}  // namespace tidemark
