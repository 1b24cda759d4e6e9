// A callback that runs under the allocator's lock: it writes a note, and nothing else.
#include "tidemark/libtorch/recorder/cuda_trace.h"

#ifdef TIDEMARK_CUDA
#include <c10/cuda/CUDACachingAllocator.h>

#include <array>
#include <atomic>
#include <mutex>
#include <string>

#include "tidemark/libtorch/recorder/recorder.h"
#endif

namespace tidemark::recorder {

#ifdef TIDEMARK_CUDA
namespace {

using c10::cuda::CUDACachingAllocator::TraceEntry;

struct Trace {
  std::atomic<bool> is_attached{false};
  std::array<std::uint8_t, 16> device_numbers{};
};
Trace g_trace;

void on_trace(const TraceEntry& entry) {
  Recorder& recorder = Recorder::instance();
  const auto key = static_cast<StorageKey>(entry.addr_);
  if (entry.action_ == TraceEntry::Action::ALLOC) {
    const auto device = static_cast<std::size_t>(entry.device_);
    if (recorder.is_recording() && device < g_trace.device_numbers.size())
      recorder.note_birth(key, static_cast<std::int64_t>(entry.size_),
                          g_trace.device_numbers[device], Recorder::kHoldsLock);
  } else if (entry.action_ == TraceEntry::Action::FREE_REQUESTED) {
    recorder.note_death(key, Recorder::kHoldsLock);
  }
}

}  // namespace

bool attach_cuda_trace() {
  static std::mutex lock;
  const std::lock_guard guard(lock);
  if (g_trace.is_attached) return true;
  for (std::size_t i = 0; i < g_trace.device_numbers.size(); ++i)
    g_trace.device_numbers[i] = Recorder::instance().device_number("cuda:" + std::to_string(i));
  c10::cuda::CUDACachingAllocator::attachAllocatorTraceTracker(&on_trace);
  g_trace.is_attached = true;
  return true;
}

bool cuda_trace_is_attached() { return g_trace.is_attached; }
#else
bool attach_cuda_trace() { return false; }
bool cuda_trace_is_attached() { return false; }
#endif

}  // namespace tidemark::recorder
