// Events that take no time; a CPU build has none, and says so at every operator.
#include "tidemark/libtorch/phantom/device/profiler_events.h"

#include <c10/util/ApproximateClock.h>
#include <torch/csrc/profiler/stubs/base.h>

#include "tidemark/libtorch/phantom/device/virtual_gpus.h"

namespace tidemark::phantom {
namespace {

using Stubs = torch::profiler::impl::ProfilerStubs;
using Event = torch::profiler::impl::ProfilerVoidEventStub;

class VirtualEvents final : public Stubs {
 public:
  void record(c10::DeviceIndex* device, Event* event, std::int64_t* cpu_ns) const override {
    static const Event recorded = std::make_shared<char>();
    if (device) *device = current_device();
    *event = recorded;
    if (cpu_ns) *cpu_ns = c10::getTime();
  }
  float elapsed(const Event*, const Event*) const override { return 0; }
  void mark(const char*) const override {}
  void rangePush(const char*) const override {}
  void rangePop() const override {}
  bool enabled() const override { return virtual_gpus().is_open(); }
  void onEachDevice(std::function<void(int)> visit) const override {
    for (int device = 0; device < virtual_gpus().count(); ++device) visit(device);
  }
  void synchronize() const override {}
};

// PyTorch holds the address of ours.
struct Events {
  VirtualEvents ours;
  const Stubs* before = nullptr;
};
Events g_events;

}  // namespace

void install_profiler_events() {
  g_events.before = torch::profiler::impl::cudaStubs();
  torch::profiler::impl::registerCUDAMethods(&g_events.ours);
}

void remove_profiler_events() {
  // PyTorch takes what it hands out as const.
  torch::profiler::impl::registerCUDAMethods(const_cast<Stubs*>(g_events.before));
}

}  // namespace tidemark::phantom
