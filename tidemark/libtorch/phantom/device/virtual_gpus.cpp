// Thread-local places on the virtual machine.
#include "tidemark/libtorch/phantom/device/virtual_gpus.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <stdexcept>

namespace tidemark::phantom {
namespace {

struct ThreadPlace {
  std::uint32_t opened = 0;
  c10::DeviceIndex device = 0;
  std::array<c10::StreamId, kMaxGpus> streams{};
};

// Found by one instruction: autograd asks at every node.
[[gnu::tls_model("initial-exec")]] constinit thread_local ThreadPlace t_place;

ThreadPlace& thread_place() {
  const std::uint32_t opened = VirtualGpus::openings();
  if (t_place.opened != opened) t_place = {opened, 0, {}};
  return t_place;
}

}  // namespace

void VirtualGpus::open(int count, const GpuModel& model) {
  if (count < 1 || count > kMaxGpus)
    throw std::invalid_argument("the number of virtual GPUs must be 1 to " +
                                std::to_string(kMaxGpus));
  ++openings_;
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

c10::StreamId next_stream(c10::DeviceIndex device, int priority) {
  constexpr int kPriorities = 4, kStreams = 32;  // as PyTorch has them
  static std::array<std::array<std::atomic<std::uint32_t>, kPriorities>, kMaxGpus> given;
  const int row = std::clamp(-priority, 0, kPriorities - 1);
  auto& count = given.at(static_cast<std::size_t>(device))[static_cast<std::size_t>(row)];
  return 1 + row * kStreams + static_cast<c10::StreamId>(count++ % kStreams);
}

c10::Device with_index(c10::Device device) {
  if (!device.has_index()) return {c10::DeviceType::CUDA, current_device()};
  TORCH_CHECK(device.index() < virtual_gpus().count(),
              "CUDA error: invalid device ordinal: there is no " + device.str() + " among " +
                  std::to_string(virtual_gpus().count()) + " virtual GPUs");
  return device;
}

}  // namespace tidemark::phantom
