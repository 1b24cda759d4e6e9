// A guard whose streams are numbers and whose events are always done.
#include "tidemark/libtorch/phantom/device/device_guard.h"

#include <c10/core/impl/DeviceGuardImplInterface.h>

#include <atomic>

#include "tidemark/libtorch/phantom/cuda/torch_version.h"
#include "tidemark/libtorch/phantom/device/virtual_gpus.h"

namespace tidemark::phantom {
namespace {

using c10::Device;
using c10::DeviceIndex;
using c10::DeviceType;
using c10::Stream;

class VirtualGuard final : public c10::impl::DeviceGuardImplInterface {
 public:
  DeviceType type() const override { return DeviceType::CUDA; }
  Device getDevice() const override { return {DeviceType::CUDA, current_device()}; }
  void setDevice(Device device) const override { set_current_device(device.index()); }
  void uncheckedSetDevice(Device device) const noexcept override {
    set_current_device(device.index());
  }
  Device exchangeDevice(Device device) const override {
    const Device before = getDevice();
    set_current_device(device.index());
    return before;
  }
  DeviceIndex deviceCount() const noexcept override {
    return static_cast<DeviceIndex>(virtual_gpus().count());
  }

  // Fake tensors may be on a device that is not there; autograd asks where nothing may be thrown.
  Stream getStream(Device device) const override {
    if (device.index() >= deviceCount()) return Stream(Stream::DEFAULT, device);
    device = with_index(device);
    return Stream(Stream::UNSAFE, device, current_stream(device.index()));
  }
  Stream getDefaultStream(Device device) const override {
    return Stream(Stream::DEFAULT, with_index(device));
  }
  Stream getStreamFromGlobalPool(Device device, bool is_high_priority) const override {
    return getNewStream(device, is_high_priority ? -1 : 0);
  }
  Stream getNewStream(Device device, int priority) const override {
    device = with_index(device);
    return Stream(Stream::UNSAFE, device, next_stream(device.index(), priority));
  }
  Stream exchangeStream(Stream stream) const override {
    const Stream before = getStream(stream.device());
    set_current_stream(stream.device_index(), stream.id());
    return before;
  }

  // An event needs an address to count as recorded; nothing is ever behind it.
  void record(void** event, const Stream&, const DeviceIndex, const c10::EventFlag) const override {
    static char recorded;
    *event = &recorded;
  }
  void destroyEvent(void*, const DeviceIndex) const noexcept override {}
  void block(void*, const Stream&) const override {}
  bool queryEvent(void*) const override { return true; }
  bool queryStream(const Stream&) const override { return true; }
  void synchronizeStream(const Stream&) const override {}
  void synchronizeEvent(void*) const override {}
  void synchronizeDevice(const DeviceIndex) const override {}
  double elapsedTime(void*, void*, const DeviceIndex) const override { return 1.0; }
  void recordDataPtrOnStream(const c10::DataPtr&, const Stream&) const override {}
  bool isStreamCapturing(const Stream&) const TIDEMARK_SINCE_2_13(override) {
    return is_capturing_;
  }
  void set_capturing(bool is_capturing) { is_capturing_ = is_capturing; }
  bool is_capturing() const { return is_capturing_; }

 private:
  std::atomic<bool> is_capturing_{false};
};

auto& slot() {
  return c10::impl::device_guard_impl_registry[static_cast<std::size_t>(DeviceType::CUDA)];
}

// PyTorch holds the address of ours.
struct Guards {
  VirtualGuard ours;
  const c10::impl::DeviceGuardImplInterface* before = nullptr;
};
Guards g_guards;

}  // namespace

void install_device_guard() { g_guards.before = slot().exchange(&g_guards.ours); }

void set_capturing(bool is_capturing) { g_guards.ours.set_capturing(is_capturing); }

bool is_capturing() { return g_guards.ours.is_capturing(); }

void remove_device_guard() { slot().store(g_guards.before); }

}  // namespace tidemark::phantom
