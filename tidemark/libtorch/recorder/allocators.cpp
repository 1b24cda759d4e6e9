// Delegates to PyTorch's allocators. A storage's DataPtr stays what it was but for its deleter.
#include "tidemark/libtorch/recorder/allocators.h"

#include <c10/core/Allocator.h>

#include <atomic>

#include "tidemark/libtorch/recorder/cuda_trace.h"
#include "tidemark/libtorch/recorder/operators.h"
#include "tidemark/libtorch/recorder/recorder.h"

namespace tidemark::recorder {
namespace {

using attribution::StorageKey;

StorageKey key_of_pointer(const void* context) {
  return static_cast<StorageKey>(reinterpret_cast<std::uintptr_t>(context));
}

// The context of a plain CPU DataPtr is its data, so code that looks at it sees what it always
// saw; only the deleter differs.
class NotedCpuAllocator final : public c10::Allocator {
 public:
  void set_inner(c10::Allocator* inner) {
    inner_ = inner;
    inner_deleter_ = inner->raw_deleter();
  }
  c10::Allocator* inner() const { return inner_; }
  static c10::DeleterFnPtr inner_deleter() { return inner_deleter_; }
  void set_device(std::uint8_t number) { device_ = number; }
  std::uint8_t device() const { return device_; }

  c10::DataPtr allocate(std::size_t bytes) override {
    Recorder& recorder = Recorder::instance();
    if (!recorder.is_recording()) return inner_->allocate(bytes);
    c10::DataPtr pointer = allocate_or_tell(bytes);
    if (pointer.get_context() == nullptr) return pointer;
    if (!pointer.compare_exchange_deleter(inner_deleter_, &note_and_delete)) return pointer;
    recorder.note_birth(key_of_pointer(pointer.get_context()), static_cast<std::int64_t>(bytes),
                        device_);
    return pointer;
  }
  c10::DeleterFnPtr raw_deleter() const override { return &note_and_delete; }
  bool is_simple_data_ptr(const c10::DataPtr& pointer) const override {
    return inner_->is_simple_data_ptr(pointer);
  }
  void copy_data(void* to, const void* from, std::size_t bytes) const override {
    inner_->copy_data(to, from, bytes);
  }

  // The note comes first: as soon as the memory is free, another thread may be given it.
  static void note_and_delete(void* context) {
    Recorder::instance().note_death(key_of_pointer(context));
    inner_deleter_(context);
  }

 private:
  c10::DataPtr allocate_or_tell(std::size_t bytes) {
    try {
      return inner_->allocate(bytes);
    } catch (...) {
      Recorder::instance().note_out_of_memory(static_cast<std::int64_t>(bytes), "cpu");
      throw;
    }
  }

  c10::Allocator* inner_ = nullptr;
  static inline c10::DeleterFnPtr inner_deleter_ = nullptr;
  std::uint8_t device_ = 0;
};

// Meta storages have no memory, and so no address: their context becomes a number of their own.
class NotedMetaAllocator final : public c10::Allocator {
 public:
  void set_inner(c10::Allocator* inner) { inner_ = inner; }
  c10::Allocator* inner() const { return inner_; }
  void set_device(std::uint8_t number) { device_ = number; }

  c10::DataPtr allocate(std::size_t bytes) override {
    c10::DataPtr pointer = inner_->allocate(bytes);
    Recorder& recorder = Recorder::instance();
    if (!recorder.is_recording() || pointer.get_context() != nullptr || bytes == 0) return pointer;
    c10::DataPtr named = name(pointer.device());
    recorder.note_birth(key_of_pointer(named.get_context()), static_cast<std::int64_t>(bytes),
                        device_);
    return named;
  }
  c10::DeleterFnPtr raw_deleter() const override { return inner_->raw_deleter(); }
  void copy_data(void* to, const void* from, std::size_t bytes) const override {
    inner_->copy_data(to, from, bytes);
  }

  static c10::DataPtr name(c10::Device device) {
    // Odd numbers, so that none is ever the address of an allocation.
    static std::atomic<std::uintptr_t> next{1};
    auto* context = reinterpret_cast<void*>(next.fetch_add(2, std::memory_order_relaxed));
    return {nullptr, context, &note_death, device};
  }
  static void note_death(void* context) {
    Recorder::instance().note_death(key_of_pointer(context));
  }

 private:
  c10::Allocator* inner_ = nullptr;
  std::uint8_t device_ = 0;
};

// Storages remember their allocator for as long as they live.
NotedCpuAllocator& cpu_allocator() {
  static auto* const allocator = new NotedCpuAllocator();
  return *allocator;
}
NotedMetaAllocator& meta_allocator() {
  static auto* const allocator = new NotedMetaAllocator();
  return *allocator;
}

// Known from the first storage on that is watched, which may be before any recording.
c10::Allocator* inner_cpu_allocator() {
  NotedCpuAllocator& noted = cpu_allocator();
  c10::Allocator* const current = c10::GetAllocator(c10::kCPU);
  if (!noted.inner() && current->raw_deleter() != nullptr) noted.set_inner(current);
  return noted.inner();
}

// Only as much priority as it takes: what others set later must still be able to win.
void set_allocator(c10::DeviceType type, c10::Allocator* allocator) {
  c10::SetAllocator(type, allocator, 0);
  if (c10::GetAllocator(type) != allocator) c10::SetAllocator(type, allocator, 255);
}

template <class Noted>
void install(c10::DeviceType type, Noted& noted, const char* name) {
  c10::Allocator* const inner = c10::GetAllocator(type);
  if (inner == &noted) return;
  noted.set_inner(inner);
  noted.set_device(Recorder::instance().device_number(name));
  set_allocator(type, &noted);
}

template <class Noted>
void remove(c10::DeviceType type, Noted& noted) {
  if (c10::GetAllocator(type) == &noted) set_allocator(type, noted.inner());
}

}  // namespace

void install_allocators() {
  if (c10::GetAllocator(c10::kCPU)->raw_deleter() != nullptr)
    install(c10::kCPU, cpu_allocator(), "cpu");
  install(c10::kMeta, meta_allocator(), "meta");
}

void remove_allocators() {
  remove(c10::kCPU, cpu_allocator());
  remove(c10::kMeta, meta_allocator());
}

StorageKey key_of(const c10::StorageImpl& storage) {
  return key_of_pointer(storage.data_ptr().get_context());
}

bool watch_storage(c10::StorageImpl& storage) {
  c10::DataPtr& pointer = storage._mutable_data_ptr_no_checks();
  if (pointer.device().is_meta()) {
    if (pointer.get_context() == nullptr)
      storage.set_data_ptr_noswap(NotedMetaAllocator::name(pointer.device()));
    return pointer.get_deleter() == &NotedMetaAllocator::note_death;
  }
  // The allocator itself tells of CUDA memory; its context is its address.
  if (pointer.device().is_cuda())
    return cuda_trace_is_attached() && pointer.get_context() == pointer.get();
  const auto noted = &NotedCpuAllocator::note_and_delete;
  if (pointer.get_deleter() == noted) return true;
  if (inner_cpu_allocator() == nullptr || pointer.get_context() != pointer.get()) return false;
  if (!pointer.compare_exchange_deleter(NotedCpuAllocator::inner_deleter(), noted)) return false;
  // So that the memory it grows into is noted too.
  if (storage.allocator() == inner_cpu_allocator()) storage.set_allocator(&cpu_allocator());
  return true;
}

void note_made(c10::StorageImpl& storage) {
  Recorder& recorder = Recorder::instance();
  // Fake storages are known by what operators return.
  if (!recorder.is_recording() || recorder.wants_outputs() || fake_mode_is_on()) return;
  if (storage.nbytes() == 0 || !watch_storage(storage)) return;
  recorder.note_made(key_of(storage), static_cast<std::int64_t>(storage.nbytes()),
                     recorder.device_number(storage.device().str()));
}

}  // namespace tidemark::recorder
