// Hints to the system for big arrays; nothing depends on them.
#pragma once

#include <cstddef>

namespace tidemark {

// Asks for large pages behind this memory, where the system offers them: first touch of a tape of
// millions of events is then a few hundred page faults instead of a hundred thousand.
void prefer_large_pages(void* memory, std::size_t size_bytes) noexcept;

// Has the system put memory there now, in this thread, so that another finds it at its first touch.
// What it holds stays as it is.
void bring_in(void* memory, std::size_t size_bytes) noexcept;

}  // namespace tidemark
