// A callback that runs under the allocator's lock: it reads a counter and writes notes, no more.
#include "tidemark/libtorch/recorder/cuda_trace.h"

#ifdef TIDEMARK_CUDA
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAFunctions.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <mutex>
#include <string>

#include "tidemark/libtorch/recorder/block_marks.h"
#include "tidemark/libtorch/recorder/library_code.h"
#include "tidemark/libtorch/recorder/pinned_births.h"
#include "tidemark/libtorch/recorder/recorder.h"
#endif

namespace tidemark::recorder {

#ifdef TIDEMARK_CUDA
namespace {

namespace cuda_allocator = c10::cuda::CUDACachingAllocator;
using cuda_allocator::TraceEntry;

struct TracedDevice {
  std::uint8_t number = 0;  // in the recorder's list
  BlockMarks marks;
};
struct Trace {
  std::atomic<bool> is_attached{false};
  std::array<TracedDevice, 16> devices;
  LibraryCode libraries;
};
Trace g_trace;

// The allocator's lock is recursive: its own callback may ask it.
Counted counted_on(std::size_t device) {
  constexpr auto kAll = static_cast<std::size_t>(c10::CachingAllocator::StatType::AGGREGATE);
  const auto stats = cuda_allocator::getDeviceStats(static_cast<c10::DeviceIndex>(device));
  return {stats.allocated_bytes[kAll].allocated, stats.allocated_bytes[kAll].current,
          stats.reserved_bytes[kAll].current};
}

// It says nothing of what this thread does.
Note block_note(const TracedDevice& device, const Block& block) {
  Note note;
  note.kind = NoteKind::Block;
  note.time_ns = attribution::now_ns();
  note.thread = this_thread().id;
  note.key = block.key;
  note.bytes = block.bytes;
  note.device = device.number;
  return note;
}

void settle_last(TracedDevice& device, const Counted& now) {
  if (const auto block = device.marks.settle(now); block && !block->is_as_rounded())
    Recorder::instance().note(block_note(device, *block), Recorder::kHoldsLock);
}

void on_birth(const TraceEntry& entry, TracedDevice& device) {
  Recorder& recorder = Recorder::instance();
  const bool counts = recorder.wants_blocks();
  const auto key = static_cast<StorageKey>(entry.addr_);
  const auto bytes = static_cast<std::int64_t>(entry.size_);
  Counted before;
  if (counts || device.marks.is_waiting())
    before = counted_on(static_cast<std::size_t>(entry.device_));
  if (device.marks.is_waiting()) settle_last(device, before);
  if (!recorder.is_recording()) return;
  std::uint8_t flags = 0;
  if (counts && g_trace.libraries.asks_for(bytes)) flags |= attribution::kOfLibrary;
  recorder.note_birth(key, bytes, device.number, Recorder::kHoldsLock, flags);
  if (counts) device.marks.begin(key, bytes, before);
}

void on_death(const TraceEntry& entry, TracedDevice& device) {
  if (device.marks.is_waiting())
    settle_last(device, counted_on(static_cast<std::size_t>(entry.device_)));
  Recorder::instance().note_death(static_cast<StorageKey>(entry.addr_), Recorder::kHoldsLock);
}

void on_trace(const TraceEntry& entry) {
  const auto device = static_cast<std::size_t>(entry.device_);
  if (device >= g_trace.devices.size()) return;
  if (entry.action_ == TraceEntry::Action::ALLOC) on_birth(entry, g_trace.devices[device]);
  if (entry.action_ == TraceEntry::Action::FREE_REQUESTED) on_death(entry, g_trace.devices[device]);
}

std::size_t device_count() {
  if (!g_trace.is_attached) return 0;
  return std::min(static_cast<std::size_t>(c10::cuda::device_count()), g_trace.devices.size());
}

void look_at_last_block(std::size_t index, const LastBlocks& reader) {
  BlockMarks& marks = g_trace.devices[index].marks;
  const std::uint64_t turn = marks.turn();
  if (turn % 2 == 1 || !marks.is_waiting()) return;
  const auto block = marks.last(counted_on(index));
  reader.read_all();
  if (!block || marks.turn() != turn) return;
  marks.mark(*block);
  if (!block->is_as_rounded()) reader.hand(block_note(g_trace.devices[index], *block));
}

}  // namespace

bool attach_cuda_trace() {
  static std::mutex lock;
  const std::lock_guard guard(lock);
  if (g_trace.is_attached) return true;
  for (std::size_t i = 0; i < g_trace.devices.size(); ++i)
    g_trace.devices[i].number = Recorder::instance().device_number("cuda:" + std::to_string(i));
  g_trace.libraries.learn();
  cuda_allocator::attachAllocatorTraceTracker(&on_trace);
  attach_pinned_births();
  g_trace.is_attached = true;
  restart_cuda_high_marks();
  return true;
}

bool cuda_trace_is_attached() { return g_trace.is_attached; }

// Notes that come while the allocator is asked are read before its answer is used: if the birth is
// still the last one then, the answer is of it.
void look_at_last_blocks(const LastBlocks& reader) {
  for (std::size_t i = 0; i < g_trace.devices.size(); ++i)
    if (g_trace.devices[i].marks.is_waiting()) look_at_last_block(i, reader);
}

void forget_last_births() {
  for (TracedDevice& device : g_trace.devices) device.marks.forget();
}

std::vector<CudaBlock> cuda_blocks_in_use() {
  std::vector<CudaBlock> blocks;
  if (!g_trace.is_attached) return blocks;
  for (const auto& segment : cuda_allocator::snapshot().segments) {
    const auto device = static_cast<std::size_t>(segment.device);
    std::size_t address = segment.address;
    for (const auto& block : segment.blocks) {
      if (block.allocated && device < g_trace.devices.size())
        blocks.push_back({static_cast<StorageKey>(address),
                          static_cast<std::int64_t>(block.requested_size),
                          static_cast<std::int64_t>(block.size), g_trace.devices[device].number});
      address += block.size;
    }
  }
  return blocks;
}

void restart_cuda_high_marks() {
  for (std::size_t i = 0; i < device_count(); ++i) g_trace.devices[i].marks.restart(counted_on(i));
}

std::vector<CudaHighMark> cuda_high_marks() {
  std::vector<CudaHighMark> all;
  for (std::size_t i = 0; i < device_count(); ++i) {
    const TracedDevice& device = g_trace.devices[i];
    if (device.marks.highest_reserved() > 0)
      all.push_back({Recorder::instance().device_name(device.number),
                     device.marks.highest_allocated(), device.marks.highest_reserved()});
  }
  return all;
}
#else
bool attach_cuda_trace() { return false; }
bool cuda_trace_is_attached() { return false; }
void look_at_last_blocks(const LastBlocks&) {}
void forget_last_births() {}
std::vector<CudaBlock> cuda_blocks_in_use() { return {}; }
void restart_cuda_high_marks() {}
std::vector<CudaHighMark> cuda_high_marks() { return {}; }
#endif

}  // namespace tidemark::recorder
