// Thread-local places on the virtual machine.
#include "tidemark/torch/phantom/virtual_gpus.h"

#include <array>
#include <atomic>
#include <stdexcept>

namespace tidemark::phantom {
namespace {

thread_local c10::DeviceIndex t_device = 0;
thread_local std::array<c10::StreamId, kMaxGpus> t_streams{};

}  // namespace

void VirtualGpus::open(int count, const GpuModel& model) {
  if (count < 1 || count > kMaxGpus)
    throw std::invalid_argument("the number of virtual GPUs must be 1 to " +
                                std::to_string(kMaxGpus));
  count_ = count;
  model_ = model;
}

VirtualGpus& virtual_gpus() {
  static VirtualGpus gpus;
  return gpus;
}

c10::DeviceIndex current_device() { return t_device; }

void set_current_device(c10::DeviceIndex device) {
  if (device >= 0) t_device = device;
}

c10::StreamId current_stream(c10::DeviceIndex device) { return t_streams.at(device); }

void set_current_stream(c10::DeviceIndex device, c10::StreamId stream) {
  t_streams.at(device) = stream;
}

c10::StreamId new_stream() {
  static std::atomic<c10::StreamId> last{0};
  return ++last;
}

c10::Device with_index(c10::Device device) {
  return device.has_index() ? device : c10::Device(c10::DeviceType::CUDA, t_device);
}

}  // namespace tidemark::phantom
