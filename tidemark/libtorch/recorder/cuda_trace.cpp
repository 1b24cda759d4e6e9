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

Note block_note(const TracedDevice& device, const Block& block) {
  Note note = Recorder::instance().here(NoteKind::Block);
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

template <class Visit>
void for_each_device(const Visit& visit) {
  if (!g_trace.is_attached) return;
  const auto count = static_cast<std::size_t>(c10::cuda::device_count());
  for (std::size_t i = 0; i < std::min(count, g_trace.devices.size()); ++i)
    visit(i, g_trace.devices[i]);
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
  g_trace.is_attached = true;
  restart_cuda_high_marks();
  return true;
}

bool cuda_trace_is_attached() { return g_trace.is_attached; }

// Notes that come while the allocator is asked are read before its answer is used: if the birth is
// still the last one then, the answer is of it.
void look_at_last_blocks(const LastBlocks& reader) {
  for_each_device([&](std::size_t index, TracedDevice& device) {
    const std::uint64_t turn = device.marks.turn();
    if (turn % 2 == 1 || !device.marks.is_waiting()) return;
    const auto block = device.marks.last(counted_on(index));
    reader.read_all();
    if (!block || device.marks.turn() != turn) return;
    device.marks.mark(*block);
    if (!block->is_as_rounded()) reader.hand(block_note(device, *block));
  });
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
  for_each_device(
      [](std::size_t index, TracedDevice& device) { device.marks.restart(counted_on(index)); });
}

std::vector<CudaHighMark> cuda_high_marks() {
  std::vector<CudaHighMark> all;
  for_each_device([&](std::size_t, const TracedDevice& device) {
    if (device.marks.highest_reserved() > 0)
      all.push_back({Recorder::instance().device_name(device.number),
                     device.marks.highest_allocated(), device.marks.highest_reserved()});
  });
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
