// Reserves a range of address space without access, and hands it out in order.
#include "tidemark/libtorch/phantom/device/addresses.h"

#include <sys/mman.h>

#include <atomic>

#include "tidemark/engine/base/rounding.h"

namespace tidemark::phantom {
namespace {

struct Range {
  std::uintptr_t first = 0;
  std::uintptr_t size = 0;
};

// As much as the system lets us have: from 64 TiB down. Reserved space costs no memory.
Range reserve() {
  for (std::uintptr_t size = std::uintptr_t{1} << (sizeof(void*) > 4 ? 46 : 28); size >= 1u << 20;
       size /= 4) {
    void* range =
        mmap(nullptr, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (range != MAP_FAILED) return {reinterpret_cast<std::uintptr_t>(range), size};
  }
  return {4096, std::uintptr_t{1} << 20};
}

}  // namespace

void* next_address(std::int64_t bytes) {
  static const Range range = reserve();
  static std::atomic<std::uintptr_t> used{0};
  const auto taken = static_cast<std::uintptr_t>(rounded_up(bytes, kCudaGranularity));
  const std::uintptr_t at = used.fetch_add(taken);
  // After 64 TiB of births the range begins anew; what lived then is long dead.
  return reinterpret_cast<void*>(range.first + at % range.size);
}

}  // namespace tidemark::phantom
