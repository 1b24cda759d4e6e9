// Opens and closes the virtual GPUs as one thing.
#include "tidemark/libtorch/phantom/log/session.h"

#include <pthread.h>

#include <ATen/ATen.h>
#include <c10/core/Allocator.h>

#include <atomic>
#include <utility>

#include "tidemark/libtorch/phantom/cuda/attention.h"
#include "tidemark/libtorch/phantom/cuda/dropout_states.h"
#include "tidemark/libtorch/phantom/cuda/matmul_workspaces.h"
#include "tidemark/libtorch/phantom/cuda/recurrent.h"
#include "tidemark/libtorch/phantom/cuda/sparse.h"
#include "tidemark/libtorch/phantom/device/autograd_threads.h"
#include "tidemark/libtorch/phantom/device/device_guard.h"
#include "tidemark/libtorch/phantom/device/profiler_events.h"
#include "tidemark/libtorch/phantom/kernel/registration.h"
#include "tidemark/libtorch/phantom/log/faults.h"
#include "tidemark/libtorch/phantom/log/where.h"
#include "tidemark/libtorch/phantom/values/hollow_kernels.h"
#include "tidemark/libtorch/phantom/values/hollow_memory.h"
#include "tidemark/libtorch/phantom/values/host_certainty.h"
#include "tidemark/libtorch/phantom/values/own_randomness.h"
#include "tidemark/libtorch/phantom/values/value_questions.h"

namespace tidemark::phantom {
namespace {

// The one of the process; what it knows stays until the next one is opened.
struct Session {
  SessionOptions options;
  std::shared_ptr<StorageLog> log;
  std::atomic<bool> is_open{false};
  std::atomic<std::uint32_t> number{0};
  std::atomic<std::int64_t> ops{0}, memo_hits{0};
};
Session g_session;
// Each thread is somewhere else. Found by one instruction, as every operator asks.
[[gnu::tls_model("initial-exec")]] constinit thread_local Whence t_whence;

void before_fork() {
  hold_hollow_memory();
  if (g_session.log) g_session.log->before_fork();
}
void after_fork_in_parent() {
  if (g_session.log) g_session.log->after_fork(/*in_child=*/false);
  let_go_of_hollow_memory();
}
void after_fork_in_child() {
  if (g_session.log) g_session.log->after_fork(/*in_child=*/true);
  let_go_of_hollow_memory();
}

void watch_forks() {
  static const int watched =
      pthread_atfork(&before_fork, &after_fork_in_parent, &after_fork_in_child);
  TORCH_CHECK(watched == 0, "no memory to watch forks");
}

}  // namespace

void open_session(const SessionOptions& options) {
  TORCH_CHECK(!g_session.is_open, "tidemark's virtual GPUs are on already in this process");
  g_session.options = options;
  watch_forks();
  g_session.log =
      std::make_shared<StorageLog>(options.on_out_of_memory, options.tape, options.allocator);
  ++g_session.number;
  g_session.ops = g_session.memo_hits = 0;
  forget_forwards();
  forget_lines();
  reset_questions();
  reset_own_randomness();
  forget_hosts();
  virtual_gpus().open(options.gpus, options.gpu);
  install_device_guard();
  give_autograd_threads(options.gpus);
  install_profiler_events();
  install_attention_choice();
  install_recurrent_nets();
  if (options.kernels) {
    register_kernels();
    register_sparse_kernels();
    install_hollow_memory(options.host_memory_bytes);
    register_hollow_kernels();
  }
  g_session.is_open = true;
}

void close_session() {
  if (!g_session.is_open.exchange(false)) return;
  drop_matmul_workspaces();
  drop_dropout_states();
  if (g_session.options.kernels) {
    deregister_hollow_kernels();
    remove_hollow_memory();
    deregister_sparse_kernels();
    deregister_kernels();
  }
  remove_recurrent_nets();
  remove_attention_choice();
  remove_profiler_events();
  remove_device_guard();
  virtual_gpus().close();
}

bool session_is_open() { return g_session.is_open; }

const SessionOptions& session_options() { return g_session.options; }

StorageLog* storage_log() { return g_session.log.get(); }

StorageLog* storage_log(std::uint32_t session) {
  return session == g_session.number ? g_session.log.get() : nullptr;
}

std::uint32_t session_number() { return g_session.number; }

std::shared_ptr<StorageLog> shared_storage_log() { return g_session.log; }

const Whence& current_whence() { return t_whence; }

WhenceGuard::WhenceGuard(const Whence& whence) : before_(std::exchange(t_whence, whence)) {}

WhenceGuard::~WhenceGuard() { t_whence = before_; }

void set_current_call(CallId call) { t_whence.place.call = call; }

std::string describe_source(StackId source) {
  const std::string text = g_session.log ? g_session.log->describe(source) : std::string();
  return text.empty() ? "an unknown line" : text;
}

void report_memory(c10::DeviceIndex device, void* address, std::int64_t bytes) {
  if (bytes == 0 || !c10::memoryProfilingEnabled() || !g_session.log) return;
  const auto [allocated, reserved] = g_session.log->with_allocators([&](DeviceAllocators& all) {
    const PoolCounters& held = all.of(device).counters().all;
    return std::pair(held.allocated.current, held.reserved.current);
  });
  c10::reportMemoryUsageToProfiler(address, bytes, static_cast<std::size_t>(allocated),
                                   static_cast<std::size_t>(reserved),
                                   c10::Device(c10::DeviceType::CUDA, device));
}

void count_op() { g_session.ops.fetch_add(1, std::memory_order_relaxed); }

void count_memo_hit() { g_session.memo_hits.fetch_add(1, std::memory_order_relaxed); }

RunCounts run_counts() { return {g_session.ops, g_session.memo_hits}; }

}  // namespace tidemark::phantom
