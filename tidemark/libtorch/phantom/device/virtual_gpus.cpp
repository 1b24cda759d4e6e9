// Thread-local places on the virtual machine.
#include "tidemark/libtorch/phantom/device/virtual_gpus.h"

#include <array>
#include <atomic>
#include <stdexcept>

namespace tidemark::phantom {
namespace {

// Grows with every opening: what a thread chose before counts no more.
std::atomic<std::uint32_t> g_opened{0};

struct ThreadPlace {
  std::uint32_t opened = 0;
  c10::DeviceIndex device = 0;
  std::array<c10::StreamId, kMaxGpus> streams{};
};

ThreadPlace& thread_place() {
  thread_local ThreadPlace place;
  const std::uint32_t opened = g_opened.load(std::memory_order_relaxed);
  if (place.opened != opened) place = {opened, 0, {}};
  return place;
}

}  // namespace

void VirtualGpus::open(int count, const GpuModel& model) {
  if (count < 1 || count > kMaxGpus)
    throw std::invalid_argument("the number of virtual GPUs must be 1 to " +
                                std::to_string(kMaxGpus));
  ++g_opened;
  count_ = count;
  model_ = model;
}

VirtualGpus& virtual_gpus() {
  static VirtualGpus gpus;
  return gpus;
}

c10::DeviceIndex current_device() { return thread_place().device; }

void set_current_device(c10::DeviceIndex device) {
  if (device >= 0) thread_place().device = device;
}

c10::StreamId current_stream(c10::DeviceIndex device) { return thread_place().streams.at(device); }

void set_current_stream(c10::DeviceIndex device, c10::StreamId stream) {
  thread_place().streams.at(device) = stream;
}

c10::StreamId new_stream() {
  static std::atomic<c10::StreamId> last{0};
  return ++last;
}

c10::Device with_index(c10::Device device) {
  if (!device.has_index()) return {c10::DeviceType::CUDA, current_device()};
  TORCH_CHECK(device.index() < virtual_gpus().count(),
              "CUDA error: invalid device ordinal: there is no " + device.str() + " among " +
                  std::to_string(virtual_gpus().count()) + " virtual GPUs");
  return device;
}

}  // namespace tidemark::phantom
