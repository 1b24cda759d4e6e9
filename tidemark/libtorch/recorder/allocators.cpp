// Delegates to PyTorch's allocators. A storage's DataPtr stays what it was but for its deleter.
#include "tidemark/libtorch/recorder/allocators.h"

#include <c10/core/Allocator.h>
#include <c10/core/impl/LocalDispatchKeySet.h>

#include <atomic>

#include "tidemark/libtorch/recorder/cuda_trace.h"
#include "tidemark/libtorch/recorder/operators.h"
#include "tidemark/libtorch/recorder/pinned_births.h"
#include "tidemark/libtorch/recorder/recorder.h"

namespace tidemark::recorder {
namespace {

using attribution::StorageKey;

StorageKey key_of_pointer(const void* context) {
  return static_cast<StorageKey>(reinterpret_cast<std::uintptr_t>(context));
}

thread_local bool t_compiles = false;
// Whether an allocator of ours was asked for memory since somebody set this to false.
[[gnu::tls_model("initial-exec")]] constinit thread_local bool t_is_asked = false;

// What a noted allocator stands in front of, and its device. Other threads allocate and free while
// it is set, so it is atomic; PyTorch's own table of allocators is read without any order.
class Noted : public c10::Allocator {
 public:
  c10::Allocator* inner() const { return inner_.load(std::memory_order_acquire); }
  void set_inner(c10::Allocator* inner) { inner_.store(inner, std::memory_order_release); }
  std::uint8_t device() const { return device_.load(std::memory_order_relaxed); }
  void set_device(std::uint8_t number) { device_.store(number, std::memory_order_relaxed); }
  void copy_data(void* to, const void* from, std::size_t bytes) const override {
    inner()->copy_data(to, from, bytes);
  }

 private:
  std::atomic<c10::Allocator*> inner_{nullptr};
  std::atomic<std::uint8_t> device_{0};
};

// The context of a plain CPU DataPtr is its data, so code that looks at it sees what it always
// saw; only the deleter differs.
class NotedCpuAllocator final : public Noted {
 public:
  // The deleter comes first: who sees the allocator sees it, too.
  void set_inner(c10::Allocator* inner) {
    inner_deleter_.store(inner->raw_deleter(), std::memory_order_relaxed);
    Noted::set_inner(inner);
  }
  // Not one with another deleter: blocks of the first may live, and are freed by that one.
  static bool takes(const c10::Allocator& inner) {
    const c10::DeleterFnPtr known = inner_deleter(), its = inner.raw_deleter();
    return its != nullptr && (known == nullptr || its == known || its == &note_and_delete);
  }
  static c10::DeleterFnPtr inner_deleter() {
    return inner_deleter_.load(std::memory_order_relaxed);
  }

  c10::DataPtr allocate(std::size_t bytes) override {
    t_is_asked = true;
    Recorder& recorder = Recorder::instance();
    if (!recorder.is_recording()) return inner()->allocate(bytes);
    c10::DataPtr pointer = allocate_or_tell(bytes);
    if (pointer.get_context() == nullptr) return pointer;
    if (!pointer.compare_exchange_deleter(inner_deleter(), &note_and_delete)) return pointer;
    recorder.note_birth(key_of_pointer(pointer.get_context()), static_cast<std::int64_t>(bytes),
                        device());
    return pointer;
  }
  c10::DeleterFnPtr raw_deleter() const override { return &note_and_delete; }
  bool is_simple_data_ptr(const c10::DataPtr& pointer) const override {
    return inner()->is_simple_data_ptr(pointer);
  }

  // The note comes first: as soon as the memory is free, another thread may be given it.
  static void note_and_delete(void* context) {
    Recorder::instance().note_death(key_of_pointer(context));
    inner_deleter()(context);
  }

 private:
  c10::DataPtr allocate_or_tell(std::size_t bytes) {
    try {
      return inner()->allocate(bytes);
    } catch (...) {
      Recorder::instance().note_out_of_memory(static_cast<std::int64_t>(bytes), "cpu");
      throw;
    }
  }

  static inline std::atomic<c10::DeleterFnPtr> inner_deleter_{nullptr};
};

// Meta storages have no memory, and so no address: their context becomes a number of their own.
class NotedMetaAllocator final : public Noted {
 public:
  c10::DataPtr allocate(std::size_t bytes) override {
    t_is_asked = true;
    c10::DataPtr pointer = inner()->allocate(bytes);
    Recorder& recorder = Recorder::instance();
    if (!recorder.is_recording() || pointer.get_context() != nullptr || bytes == 0) return pointer;
    if (is_tried_out() && !recorder.wants_outputs()) return pointer;
    c10::DataPtr named = name(pointer.device());
    recorder.note_birth(key_of_pointer(named.get_context()), static_cast<std::int64_t>(bytes),
                        device());
    return named;
  }
  c10::DeleterFnPtr raw_deleter() const override { return inner()->raw_deleter(); }

  // A compiler tries a program out on fake tensors, whose kernels are forced to meta. They are none
  // of the program's memory.
  static bool is_tried_out() {
    return t_compiles ||
           c10::impl::tls_local_dispatch_key_set().included_.has(c10::DispatchKey::Meta);
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
};

// Storages remember their allocator for as long as they live. Made when the library is loaded:
// other threads may be given it as soon as it is set.
NotedCpuAllocator& g_cpu_allocator = *new NotedCpuAllocator();
NotedMetaAllocator& g_meta_allocator = *new NotedMetaAllocator();

// Known from the first storage on that is watched, which may be before any recording.
c10::Allocator* inner_cpu_allocator() {
  c10::Allocator* const current = c10::GetAllocator(c10::kCPU);
  if (!g_cpu_allocator.inner() && current->raw_deleter() != nullptr)
    g_cpu_allocator.set_inner(current);
  return g_cpu_allocator.inner();
}

// Only as much priority as it takes: what others set later must still be able to win.
void set_allocator(c10::DeviceType type, c10::Allocator* allocator) {
  // Who finds it in PyTorch's table must find it filled in.
  std::atomic_thread_fence(std::memory_order_release);
  c10::SetAllocator(type, allocator, 0);
  if (c10::GetAllocator(type) != allocator) c10::SetAllocator(type, allocator, 255);
}

// Whether another allocator, put on top of ours while that could not be taken away, hands on to it:
// its blocks have our deleter, or it asks ours.
bool is_below(c10::Allocator& top, const Noted& noted) {
  if (!noted.inner() || &top == noted.inner()) return false;
  const c10::DeleterFnPtr ours = noted.raw_deleter();
  if (ours != noted.inner()->raw_deleter() && top.raw_deleter() == ours) return true;
  t_is_asked = false;
  top.allocate(1);
  return t_is_asked;
}

template <class Allocator>
void install(c10::DeviceType type, Allocator& noted, const char* name) {
  c10::Allocator* const inner = c10::GetAllocator(type);
  if (inner == &noted || is_below(*inner, noted)) return;
  noted.set_inner(inner);
  noted.set_device(Recorder::instance().device_number(name));
  set_allocator(type, &noted);
}

void remove(c10::DeviceType type, Noted& noted) {
  if (c10::GetAllocator(type) == &noted) set_allocator(type, noted.inner());
}

}  // namespace

void install_allocators() {
  if (NotedCpuAllocator::takes(*c10::GetAllocator(c10::kCPU)))
    install(c10::kCPU, g_cpu_allocator, "cpu");
  install(c10::kMeta, g_meta_allocator, "meta");
}

void remove_allocators() {
  remove(c10::kCPU, g_cpu_allocator);
  remove(c10::kMeta, g_meta_allocator);
}

void set_compiling(bool compiles) { t_compiles = compiles; }

StorageKey key_of(const c10::StorageImpl& storage) {
  return key_of_pointer(storage.data_ptr().get_context());
}

const HostNumbers& host_numbers() {
  static const HostNumbers numbers{Recorder::instance().device_number("cpu"),
                                   Recorder::instance().device_number(attribution::kPinnedHost)};
  return numbers;
}

std::uint8_t host_number_of(c10::StorageImpl& storage) {
  const bool is_pinned = watch_pinned(storage._mutable_data_ptr_no_checks());
  return is_pinned ? host_numbers().pinned : host_numbers().cpu;
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
  if (pointer.get_deleter() == noted || watch_pinned(pointer)) return true;
  if (inner_cpu_allocator() == nullptr || pointer.get_context() != pointer.get()) return false;
  if (!pointer.compare_exchange_deleter(NotedCpuAllocator::inner_deleter(), noted)) return false;
  // So that the memory it grows into is noted too.
  if (storage.allocator() == inner_cpu_allocator()) storage.set_allocator(&g_cpu_allocator);
  return true;
}

bool is_watched(const c10::StorageImpl& storage) {
  const c10::DeleterFnPtr deleter = storage.data_ptr().get_deleter();
  return deleter == &NotedCpuAllocator::note_and_delete ||
         deleter == &NotedMetaAllocator::note_death;
}

void note_made(c10::StorageImpl& storage) {
  Recorder& recorder = Recorder::instance();
  // Fake storages are known by what operators return.
  if (!recorder.is_recording() || recorder.wants_outputs() || fake_mode_is_on()) return;
  if (storage.nbytes() == 0 || !watch_storage(storage)) return;
  recorder.note_made(key_of(storage), static_cast<std::int64_t>(storage.nbytes()),
                     storage.device().is_cpu() ? host_number_of(storage)
                                               : recorder.device_number(storage.device().str()));
}

}  // namespace tidemark::recorder
