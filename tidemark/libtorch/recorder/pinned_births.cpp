// Hands everything on. A block's DataPtr stays what it was but for its deleter.
#include "tidemark/libtorch/recorder/pinned_births.h"

#include <ATen/core/CachingHostAllocator.h>
#include <torch/headeronly/version.h>

#include <atomic>
#include <mutex>
#include <utility>

#include "tidemark/libtorch/recorder/allocators.h"
#include "tidemark/libtorch/recorder/recorder.h"

namespace tidemark::recorder {
namespace {

using attribution::StorageKey;

// Known by what PyTorch's allocator hands out: it has one for all blocks.
std::atomic<c10::DeleterFnPtr> g_inner_deleter{nullptr};

StorageKey key_of_block(const void* context) {
  return static_cast<StorageKey>(reinterpret_cast<std::uintptr_t>(context));
}

// The note comes first: as soon as the block is free, another thread may be given it.
void note_and_delete(void* context) {
  Recorder::instance().note_death(key_of_block(context));
  g_inner_deleter.load(std::memory_order_relaxed)(context);
}

// Newer versions ask the allocator for more than is handed on here.
#if TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR <= 13

class NotedHostAllocator final : public at::HostAllocator {
 public:
  NotedHostAllocator(at::HostAllocator& inner, std::uint8_t device)
      : inner_(inner), device_(device) {}

  c10::DataPtr allocate(std::size_t bytes) override {
    c10::DataPtr block = inner_.allocate(bytes);
    Recorder& recorder = Recorder::instance();
    if (recorder.is_recording() && block.get_context() && watch_pinned(block))
      recorder.note_birth(key_of_block(block.get_context()), static_cast<std::int64_t>(bytes),
                          device_);
    return block;
  }
  void copy_data(void* to, const void* from, std::size_t bytes) const override {
    inner_.copy_data(to, from, bytes);
  }
  c10::DeleterFnPtr raw_deleter() const override { return inner_.raw_deleter(); }
  bool record_event(void* data, void* context, c10::Stream stream) override {
    return inner_.record_event(data, context, stream);
  }
  void empty_cache() override { inner_.empty_cache(); }
  at::HostStats get_stats() override { return inner_.get_stats(); }
  void reset_accumulated_stats() override { inner_.reset_accumulated_stats(); }
  void reset_peak_stats() override { inner_.reset_peak_stats(); }
  void begin_allocate_to_pool(c10::MempoolId_t pool,
                              std::function<bool(c10::Stream)> filter) override {
    inner_.begin_allocate_to_pool(pool, std::move(filter));
  }
  void end_allocate_to_pool(c10::MempoolId_t pool) override { inner_.end_allocate_to_pool(pool); }
  void release_pool(c10::MempoolId_t pool) override { inner_.release_pool(pool); }

 private:
  at::HostAllocator& inner_;
  const std::uint8_t device_;
};

// Storages remember their allocator for as long as they live: it is never destroyed.
bool put_in_front() {
  at::HostAllocator* const inner = at::getHostAllocator(at::kCUDA);
  if (!inner) return false;
  // No bytes are no block, but have its deleter.
  const c10::DeleterFnPtr deleter = inner->allocate(0).get_deleter();
  if (!deleter) return false;
  g_inner_deleter.store(deleter, std::memory_order_relaxed);
  at::setHostAllocator(at::kCUDA, new NotedHostAllocator(*inner, host_numbers().pinned), 255);
  return true;
}
#else
bool put_in_front() { return false; }
#endif

}  // namespace

bool attach_pinned_births() {
  static std::mutex lock;
  static bool is_attached = false;
  const std::lock_guard guard(lock);
  if (!is_attached) is_attached = put_in_front();
  return is_attached;
}

bool watch_pinned(c10::DataPtr& pointer) {
  if (pointer.get_deleter() == &note_and_delete) return true;
  const c10::DeleterFnPtr inner = g_inner_deleter.load(std::memory_order_relaxed);
  return inner && pointer.compare_exchange_deleter(inner, &note_and_delete);
}

}  // namespace tidemark::recorder
