// What PyTorch asks CUDA about itself, answered by the virtual GPUs.
//
// PyTorch makes its hooks object once, on the first question, and `import torch` asks: this
// library must be loaded before. While the virtual GPUs are closed, the answers are those of a
// machine without a GPU.
#include "tidemark/libtorch/phantom/device/cuda_hooks.h"

#include <ATen/detail/CUDAHooksInterface.h>
#include <dlfcn.h>

#include "tidemark/libtorch/phantom/device/generator.h"
#include "tidemark/libtorch/phantom/device/pinned_memory.h"
#include "tidemark/libtorch/phantom/device/virtual_gpus.h"
#include "tidemark/libtorch/phantom/log/session.h"

namespace tidemark::phantom {
namespace {

// A cuDNN and CUDA of the time of the PyTorch releases we imitate.
constexpr long kCudnnVersion = 91'900;
constexpr long kCudaVersion = 13'000;

// A CUDA build of PyTorch has brought its own library, which says so itself.
long loaded_cudnn_version() {
  for (const char* const name : {"libcudnn.so.9", "libcudnn.so.8"}) {
    void* const library = dlopen(name, RTLD_LAZY | RTLD_NOLOAD);
    if (library == nullptr) continue;
    using Version = std::size_t();
    auto* const version = reinterpret_cast<Version*>(dlsym(library, "cudnnGetVersion"));
    const long found = version != nullptr ? static_cast<long>(version()) : 0;
    dlclose(library);
    if (found != 0) return found;
  }
  TORCH_CHECK(false, "Cannot tell the version of cuDNN: it is not loaded.");
}

class VirtualHooks final : public at::CUDAHooksInterface {
 public:
  explicit VirtualHooks(at::CUDAHooksArgs) {}

  void init() const override { expect_open(); }
  bool hasCUDA() const override { return is_open(); }
  bool hasCUDART() const override { return is_open(); }
  bool hasCuDNN() const override { return is_open(); }
  bool hasCuSOLVER() const override { return is_open(); }
  bool hasCuBLASLt() const override { return is_open(); }
  bool isBuilt() const override { return is_open(); }
  bool isAvailable() const override { return is_open(); }
  bool hasPrimaryContext(at::DeviceIndex) const override { return is_open(); }

  at::DeviceIndex deviceCount() const override { return count(); }
  int getNumGPUs() const override { return count(); }
  at::DeviceIndex current_device() const override { return phantom::current_device(); }
  at::DeviceIndex getCurrentDevice() const override { return phantom::current_device(); }
  void setCurrentDevice(at::DeviceIndex device) const override { set_current_device(device); }
  at::DeviceIndex exchangeDevice(at::DeviceIndex device) const override {
    const at::DeviceIndex before = phantom::current_device();
    set_current_device(device);
    return before;
  }
  at::DeviceIndex maybeExchangeDevice(at::DeviceIndex device) const override {
    return exchangeDevice(device);
  }
  void deviceSynchronize(at::DeviceIndex) const override {}

  const at::Generator& getDefaultGenerator(at::DeviceIndex device) const override {
    expect_open();
    return default_generator(device);
  }
  at::Generator getNewGenerator(at::DeviceIndex device) const override {
    expect_open();
    return make_generator(device);
  }
  at::Allocator* getPinnedMemoryAllocator() const override { return pinned_allocator(); }
  bool isPinnedPtr(const void* data) const override { return is_open() && is_pinned(data); }
  at::Device getDeviceFromPtr(void*) const override {
    return {at::kCUDA, phantom::current_device()};
  }

  bool compiledWithCuDNN() const override { return is_open() && session_options().cuda_choices; }
  bool supportsDilatedConvolutionWithCuDNN() const override { return is_open(); }
  bool supportsDepthwiseConvolutionWithCuDNN() const override { return is_open(); }
  bool supportsBFloat16ConvolutionWithCuDNNv8() const override { return is_open(); }
  bool supportsBFloat16RNNWithCuDNN() const override { return is_open(); }
  long versionCuDNN() const override { return is_open() ? kCudnnVersion : loaded_cudnn_version(); }
  long versionRuntimeCuDNN() const override { return versionCuDNN(); }
  long versionCUDART() const override { return kCudaVersion; }
  double batchnormMinEpsilonCuDNN() const override { return 0.0; }
  std::string showConfig() const override { return "virtual GPUs of tidemark\n"; }

 private:
  static bool is_open() { return virtual_gpus().is_open(); }
  static at::DeviceIndex count() { return static_cast<at::DeviceIndex>(virtual_gpus().count()); }
  static void expect_open() {
    TORCH_CHECK(is_open(), "No CUDA GPUs are available: tidemark's virtual GPUs are closed.");
  }
};

}  // namespace

void register_cuda_hooks() {
  using Registerer =
      c10::Registerer<std::string, std::unique_ptr<at::CUDAHooksInterface>, at::CUDAHooksArgs>;
  // "CUDAHooks" is the name PyTorch looks up; preferred wins over the one of a CUDA build.
  static const Registerer registerer("CUDAHooks", c10::REGISTRY_PREFERRED, at::CUDAHooksRegistry(),
                                     &Registerer::DefaultCreator<VirtualHooks>);
}

}  // namespace tidemark::phantom
