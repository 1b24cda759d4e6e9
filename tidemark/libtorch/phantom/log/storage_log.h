// Every birth, death and resize of a phantom storage: counted, and told to the run.
//
// What a storage is, which module and phase it belongs to and how the tape says it is the run's
// business, as it is for live programs.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <string>

#include "tidemark/engine/answers/parts.h"
#include "tidemark/engine/tape/builder.h"
#include "tidemark/libtorch/attribution/run.h"
#include "tidemark/libtorch/phantom/device/virtual_gpus.h"
#include "tidemark/libtorch/phantom/log/device_allocators.h"

namespace tidemark::phantom {

using attribution::Note;
using attribution::NoteKind;
using attribution::StorageKey;  // of a phantom: a number that is never used again; 0 for none

// A storage that lives: its number, and the block that the GPU's allocator has for it.
struct Holding {
  StorageKey key = 0;
  BlockId block = kNoBlock;
};

// Where a birth happens: what is known of it beyond the thread it happens on.
struct Whence {
  Place place;               // operator, source line, module
  std::uint8_t flags = 0;    // of its note
  const char* op = nullptr;  // "aten::add.Tensor", for the one who reports a fault
};

// One run. All calls may come from any thread.
class StorageLog {
 public:
  // With a path, the tape goes to that file as it comes, too. Throws Error where it cannot be made.
  explicit StorageLog(OnOutOfMemory on_out_of_memory = OnOutOfMemory::GoOn,
                      const std::string& path = "", const AllocatorSettings& settings = {});

  // Zero bytes are no storage to an allocator: they get no number and no event. Its note has these
  // flags beside those of the place.
  Holding born(c10::DeviceIndex device, std::int64_t bytes, const Whence& whence,
               std::uint8_t more_flags = 0);
  void died(const Holding& storage, c10::DeviceIndex device);
  // The host's pinned memory: no GPU's, and no allocator of ours has it.
  StorageKey born_pinned(std::int64_t bytes, const Whence& whence);
  void died_pinned(StorageKey storage);
  // Under the policy that refuses: a birth of so many bytes would be.
  bool would_refuse(c10::DeviceIndex device, std::int64_t bytes);
  Holding resized(const Holding& storage, c10::DeviceIndex device, std::int64_t after,
                  const Whence& whence);

  // A module of this name; its calls begin and end, in a backward as recomputations.
  ScopeId module(const std::string& path);
  void begin_module(ScopeId module, std::uint8_t flags);
  void end_module(ScopeId module, std::uint8_t flags);
  // The backward works on this module now: calls that it left end, those it is inside of begin.
  // An empty one ends them all.
  void follow_backward(ScopeId module);
  // The innermost one that it works on; empty for none.
  ScopeId backward_module() const {
    return ScopeId(backward_module_.load(std::memory_order_relaxed));
  }

  CallId call(std::string_view op, std::string_view signature);
  StackId source(StackId caller, std::string_view file, std::uint32_t line,
                 std::string_view function);
  // The first operator, or module call, that records gradients begins a training step.
  void begin_step_if_due();
  // The optimizer's step; its end closes a training step.
  void begin_optimizer();
  void end_optimizer();
  void set_in_closure(bool in_closure);
  // What this thread makes from here on is of this category; see ThreadWork.
  std::optional<Category> set_purpose(std::optional<Category> purpose);
  // Whether one is set on this thread: what runs is then none of the program's own operators.
  static bool has_purpose();
  bool in_optimizer() const { return in_optimizer_.load(std::memory_order_relaxed); }
  bool has_born_in_optimizer();
  std::int64_t steps_begun() const { return run_.steps_begun(); }
  std::int64_t steps_done() const { return run_.steps_done(); }
  // A scope makes the storage that module's.
  void relabel(StorageKey storage, Category category, ScopeId scope = {});
  // A module is called with it from outside of all others.
  void take_input(StorageKey storage);
  // Autograd works on it as it gives this leaf its gradient.
  void take_gradient(StorageKey storage, StorageKey leaf);
  void diagnose(std::string_view code, Severity severity, std::string where, std::string message);
  // What the tape says of the run as a whole.
  void set_meta(std::string_view key, std::string_view value);
  // Whether an operator of one of these names, whatever its overload, was called so far.
  bool has_called(std::span<const std::string_view> names) const;

  Diagnostics diagnostics() const;
  std::string describe(StackId source) const;  // "train.py:12", empty for none

  // Private pools of a GPU: a user more or less; births of all threads, or of this one, come from a
  // pool until its way is closed. What a released one has cached may be given back at once.
  void share_pool(c10::DeviceIndex device, const PoolName& pool);
  void release_pool(c10::DeviceIndex device, const PoolName& pool, bool gives_back);
  void open_way(c10::DeviceIndex device, const PoolName& pool, bool of_this_thread);
  void close_way(c10::DeviceIndex device, const PoolName& pool);
  // torch.cuda.empty_cache: of all GPUs.
  void empty_caches();

  // How many storages there were on GPUs.
  std::int64_t births() const {
    std::lock_guard lock(lock_);
    return static_cast<std::int64_t>(last_key_) - pinned_births_;
  }
  // What `ask` finds out from the GPUs' allocators, or does to them.
  template <class Ask>
  auto with_allocators(Ask&& ask) {
    std::lock_guard lock(lock_);
    return ask(allocators_);
  }

  // The first moment the virtual GPU would have run out, if it did.
  struct OutOfMemory {
    c10::DeviceIndex device;
    std::int64_t wanted, allocated;
    When at;
  };
  const std::optional<OutOfMemory>& out_of_memory() const { return out_of_memory_; }

  void flush();
  Tape finish();
  // Why the file was not written to its end; empty if it was.
  std::string file_problem() const;

  // Nobody else may be inside while the process forks. A child says nothing: the tape and its file
  // are its parent's.
  void before_fork();
  void after_fork(bool in_child);

 private:
  attribution::RunTape& tape() { return *run_.tape(); }
  const Tables& tables() const { return run_.written()->tables(); }
  void tell_border(NoteKind kind, ScopeId module, std::uint32_t thread, std::uint8_t flags);
  BlockId take_block(c10::DeviceIndex device, std::int64_t bytes, const Whence& whence);
  void tell_birth(const Note& note, const Whence& whence,
                  std::optional<StorageKey> moved_from = {});
  static std::uint32_t thread_number();
  PoolId pool_here(c10::DeviceIndex device);
  void tell_births_from(c10::DeviceIndex device, std::uint32_t pool);
  void tell_pool(Kind kind, c10::DeviceIndex device, std::uint32_t pool);
  void note_if_too_much(c10::DeviceIndex device, std::int64_t bytes, const Whence& whence);
  void note_out_of_memory(c10::DeviceIndex device, std::int64_t wanted, std::int64_t allocated,
                          const Whence& whence);
  [[noreturn]] void refuse(c10::DeviceIndex device, std::int64_t wanted, const Whence& whence);

  mutable std::mutex lock_;
  attribution::Run run_;
  StorageKey last_key_ = 0;
  std::int64_t pinned_births_ = 0;
  DeviceAllocators allocators_;
  std::vector<std::optional<attribution::ModuleNumber>> modules_;  // by scope
  std::vector<ScopeId> in_backward_;  // modules the backward is inside of, outermost first
  std::atomic<ScopeId::rep> backward_module_{ScopeId().value};  // the innermost of them
  OnOutOfMemory on_out_of_memory_;
  std::optional<OutOfMemory> out_of_memory_;
  std::int64_t start_ns_;
  std::atomic<bool> in_optimizer_{false};
  bool is_over_ = false;  // finished, or in a forked child
};

}  // namespace tidemark::phantom
