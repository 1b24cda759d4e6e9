// Every birth, death and resize of a phantom storage: counted, and written to the tape.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <string>

#include "tidemark/engine/answers/parts.h"
#include "tidemark/engine/tape/builder.h"
#include "tidemark/libtorch/phantom/device/virtual_gpus.h"
#include "tidemark/libtorch/phantom/log/held_events.h"

namespace tidemark::phantom {

// What torch.cuda.memory_stats() tells of one device.
struct DeviceCounters {
  std::int64_t allocated = 0, allocated_peak = 0, allocated_total = 0;
  std::int64_t requested = 0, requested_peak = 0, requested_total = 0;
  std::int64_t births = 0, births_alive_peak = 0, deaths = 0;
};

enum class OnOutOfMemory : std::uint8_t { GoOn, Raise };

// One run. All calls may come from any thread.
class StorageLog {
 public:
  explicit StorageLog(OnOutOfMemory on_out_of_memory = OnOutOfMemory::GoOn);

  // Zero bytes are no storage to an allocator: they get no number and no event.
  StorageId born(c10::DeviceIndex device, std::int64_t bytes, Category category,
                 const Place& place);
  void died(StorageId storage, c10::DeviceIndex device, std::int64_t bytes);
  StorageId resized(StorageId storage, c10::DeviceIndex device, std::int64_t before,
                    std::int64_t after, const Place& place);

  ScopeId scope(std::string_view path);
  void begin_scope(ScopeId scope, Phase phase);
  void end_scope(ScopeId scope, Phase phase);
  // The backward works on this module now: calls that it left end, those it is inside of begin.
  // An empty one ends them all.
  void follow_backward(ScopeId scope);

  CallId call(std::string_view op, std::string_view signature);
  StackId source(StackId caller, std::string_view file, std::uint32_t line,
                 std::string_view function);
  void begin_step();
  // Between the two, what is born waits: only after an optimizer's step is it known what of it is
  // state. A label that comes before the end is true from the birth on.
  void begin_optimizer();
  void end_optimizer();
  // Whether something that was born in the optimizer's step is alive.
  bool has_born_in_optimizer() const;
  // A scope makes the storage that module's.
  void relabel(StorageId storage, Category category, ScopeId scope = {});
  Category category_of(StorageId storage) const;
  void diagnose(std::string_view code, Severity severity, std::string where, std::string message);
  // What the tape says of the run as a whole.
  void set_meta(std::string_view key, std::string_view value);
  // Whether an operator of one of these names, whatever its overload, was called so far.
  bool has_called(std::span<const std::string_view> names) const;

  Diagnostics diagnostics() const;
  std::string describe(StackId source) const;  // "train.py:12", empty for none

  DeviceCounters counters(c10::DeviceIndex device) const;
  void reset_peak(c10::DeviceIndex device);
  std::int64_t step() const { return step_; }

  // The first moment the virtual GPU would have run out, if it did.
  struct OutOfMemory {
    c10::DeviceIndex device;
    std::int64_t wanted, allocated;
    When at;
  };
  const std::optional<OutOfMemory>& out_of_memory() const { return out_of_memory_; }

  void spill_to(TapeWriter& writer);
  void flush();
  Tape finish();

  // Nobody else may be inside while the process forks. A child says nothing: the tape and its file
  // are its parent's.
  void before_fork();
  void after_fork(bool in_child);

 private:
  // At once, or when the optimizer's step is over.
  void log(LoggedEvent event);
  void write(const LoggedEvent& event);
  void write_held();
  void log_scope(ScopeId scope, Phase phase, Kind border);
  void note_out_of_memory(c10::DeviceIndex device, std::int64_t wanted, std::int64_t allocated,
                          const Place& place);
  // Now and then the file is fed to the disk.
  void feed();
  void check_memory(c10::DeviceIndex device, std::int64_t wanted, const Place& place);
  DeviceId device_id(c10::DeviceIndex device);

  mutable std::mutex lock_;
  TapeBuilder builder_;
  HeldEvents held_;
  std::vector<Category> categories_;  // of every storage, by number
  Diagnostics diagnostics_;
  std::array<DeviceCounters, kMaxGpus> counters_{};
  std::vector<ScopeId> in_backward_;  // modules the backward is inside of, outermost first
  std::atomic<ScopeId::rep> backward_scope_{ScopeId().value};  // the innermost of them
  std::array<DeviceId, kMaxGpus> devices_{};
  OnOutOfMemory on_out_of_memory_;
  std::optional<OutOfMemory> out_of_memory_;
  std::int64_t step_ = 0;
  std::int64_t start_ns_;
  bool saves_ = false, is_over_ = false;  // over: finished, or in a forked child
  std::int64_t flushed_ns_ = 0;           // when the file last had all events
};

}  // namespace tidemark::phantom
