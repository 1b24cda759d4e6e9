// The one place of the engine that asks more of the system than standard C++ can.
#include "tidemark/engine/base/large_pages.h"

#include <cstdint>

#if __has_include(<sys/mman.h>)
#include <sys/mman.h>
#endif

namespace tidemark {

void prefer_large_pages([[maybe_unused]] void* memory,
                        [[maybe_unused]] std::size_t size_bytes) noexcept {
#if defined(MADV_HUGEPAGE)
  constexpr std::size_t kLargePage = std::size_t{2} << 20;
  if (size_bytes < 2 * kLargePage) return;
  const auto begin = reinterpret_cast<std::uintptr_t>(memory);
  const auto first = (begin + kLargePage - 1) & ~(kLargePage - 1);
  const auto last = (begin + size_bytes) & ~(kLargePage - 1);
  if (first < last)
    madvise(static_cast<char*>(memory) + (first - begin), last - first, MADV_HUGEPAGE);
#endif
}

void bring_in([[maybe_unused]] void* memory, [[maybe_unused]] std::size_t size_bytes) noexcept {
#if defined(MADV_POPULATE_WRITE)
  constexpr std::size_t kLeastPage = 4096;  // elsewhere larger, and then the system refuses
  const auto begin = reinterpret_cast<std::uintptr_t>(memory);
  const auto first = (begin + kLeastPage - 1) & ~(kLeastPage - 1);
  const auto last = (begin + size_bytes) & ~(kLeastPage - 1);
  if (first < last)
    madvise(static_cast<char*>(memory) + (first - begin), last - first, MADV_POPULATE_WRITE);
#endif
}

}  // namespace tidemark
