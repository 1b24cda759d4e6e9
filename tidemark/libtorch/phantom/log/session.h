// The run that is on: where births are written, and where the program is.
#pragma once

#include <limits>
#include <memory>

#include "tidemark/libtorch/phantom/cuda/calibration.h"
#include "tidemark/libtorch/phantom/log/storage_log.h"

namespace tidemark::phantom {

enum class OnValue : std::uint8_t { Plausible, Zero, Bound, Error };

struct SessionOptions {
  int gpus = 1;
  GpuModel gpu;
  OnOutOfMemory on_out_of_memory = OnOutOfMemory::GoOn;
  OnValue on_value = OnValue::Plausible;
  bool cuda_choices = true;  // take the kernels CUDA would take (attention, recurrent nets)
  bool memo = true;
  Calibration calibration;
  // What large CPU tensors may take of the host's memory when they are read.
  std::int64_t host_memory_bytes = std::numeric_limits<std::int64_t>::max();
  bool kernels = true;  // false: only guard and hooks, for tensors that are not ours
  AllocatorSettings allocator;
  std::string tape;  // the file that the tape goes to as it comes; empty for none
};

// Turns the virtual GPUs on: guard, hooks, kernels. Throws when a session is on already.
void open_session(const SessionOptions& options);
// Everything as before, but the log, which phantoms that outlive the session still report to.
void close_session();
bool session_is_open();
const SessionOptions& session_options();

// Null when no run is on, and for a phantom that has outlived its own.
StorageLog* storage_log();
StorageLog* storage_log(std::uint32_t session);
std::uint32_t session_number();
std::shared_ptr<StorageLog> shared_storage_log();

// Where this thread is in the program.
const Whence& current_whence();
inline const Place& current_place() { return current_whence().place; }

// Sets it for the length of a call.
class WhenceGuard {
 public:
  explicit WhenceGuard(const Whence& whence);
  ~WhenceGuard();
  WhenceGuard(const WhenceGuard&) = delete;
  WhenceGuard& operator=(const WhenceGuard&) = delete;

 private:
  Whence before_;
};
void set_current_call(CallId call);
// "train.py:12", for messages.
std::string describe_source(StackId source);

// Tells the profiler of a birth or death, as the caching allocator does.
void report_memory(c10::DeviceIndex device, void* address, std::int64_t bytes);

struct RunCounts {
  std::int64_t ops = 0, memo_hits = 0;
};
void count_op();
void count_memo_hit();
RunCounts run_counts();

}  // namespace tidemark::phantom
