// An allocator over the CPU's own that keeps the set of what it gave out.
#include "tidemark/libtorch/phantom/device/pinned_memory.h"

#include <c10/core/CPUAllocator.h>

#include <mutex>
#include <unordered_set>

namespace tidemark::phantom {
namespace {

struct Pinned {
  std::mutex lock;
  std::unordered_set<const void*> blocks;
};
Pinned g_pinned;

void release_pinned(void* context) {
  auto* inner = static_cast<c10::DataPtr*>(context);
  {
    std::lock_guard lock(g_pinned.lock);
    g_pinned.blocks.erase(inner->get());
  }
  delete inner;
}

class PinnedAllocator final : public c10::Allocator {
 public:
  c10::DataPtr allocate(std::size_t size) override {
    auto* inner = new c10::DataPtr(c10::GetCPUAllocator()->allocate(size));
    std::lock_guard lock(g_pinned.lock);
    g_pinned.blocks.insert(inner->get());
    return {inner->get(), inner, &release_pinned, c10::Device(c10::DeviceType::CPU)};
  }
  void copy_data(void* to, const void* from, std::size_t count) const override {
    default_copy_data(to, from, count);
  }
};

}  // namespace

c10::Allocator* pinned_allocator() {
  static PinnedAllocator allocator;
  return &allocator;
}

bool is_pinned(const void* data) {
  std::lock_guard lock(g_pinned.lock);
  return g_pinned.blocks.contains(data);
}

}  // namespace tidemark::phantom
