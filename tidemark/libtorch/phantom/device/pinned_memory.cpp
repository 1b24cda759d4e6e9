// An allocator over the CPU's own that keeps what it gave out, and tells the run.
#include "tidemark/libtorch/phantom/device/pinned_memory.h"

#include <c10/core/CPUAllocator.h>

#include <map>
#include <mutex>

#include "tidemark/libtorch/phantom/log/session.h"
#include "tidemark/libtorch/phantom/log/where.h"

namespace tidemark::phantom {
namespace {

struct Pinned {
  std::mutex lock;
  std::map<std::uintptr_t, PinnedBlock> blocks;  // by where they begin
};
Pinned g_pinned;

std::uintptr_t address_of(const void* data) { return reinterpret_cast<std::uintptr_t>(data); }

// Inside a kernel of ours it is the kernel's; else an operator of the CPU's is under way.
PinnedBlock tell_birth(std::size_t size) {
  const auto bytes = static_cast<std::int64_t>(size);
  StorageLog* const log = session_is_open() ? storage_log() : nullptr;
  if (!log) return {.bytes = bytes};
  const Whence here = current_whence().op ? current_whence() : find_whence(*log, false);
  return {bytes, log->born_pinned(bytes, here), session_number()};
}

void release_pinned(void* context) {
  auto* inner = static_cast<c10::DataPtr*>(context);
  PinnedBlock block;
  {
    std::lock_guard lock(g_pinned.lock);
    const auto found = g_pinned.blocks.find(address_of(inner->get()));
    block = found->second;
    g_pinned.blocks.erase(found);
  }
  if (StorageLog* const log = storage_log(block.session)) log->died_pinned(block.key);
  delete inner;
}

class PinnedAllocator final : public c10::Allocator {
 public:
  c10::DataPtr allocate(std::size_t size) override {
    c10::DataPtr made = c10::GetCPUAllocator()->allocate(size);
    if (!made.get()) return made;
    auto* inner = new c10::DataPtr(std::move(made));
    const PinnedBlock block = tell_birth(size);
    std::lock_guard lock(g_pinned.lock);
    g_pinned.blocks.insert_or_assign(address_of(inner->get()), block);
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
  const auto after = g_pinned.blocks.upper_bound(address_of(data));
  if (after == g_pinned.blocks.begin()) return false;
  const auto& [begin, block] = *std::prev(after);
  return address_of(data) - begin < static_cast<std::uintptr_t>(block.bytes);
}

std::optional<PinnedBlock> pinned_block(const void* begin) {
  std::lock_guard lock(g_pinned.lock);
  const auto found = g_pinned.blocks.find(address_of(begin));
  return found == g_pinned.blocks.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace tidemark::phantom
