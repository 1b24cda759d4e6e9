// A generator that keeps what can be asked of it: seed, offset, state.
#include "tidemark/libtorch/phantom/device/generator.h"

#include <ATen/ATen.h>
#include <c10/core/GeneratorImpl.h>

#include <array>
#include <cstring>

#include "tidemark/libtorch/phantom/device/virtual_gpus.h"

namespace tidemark::phantom {
namespace {

class VirtualGenerator final : public c10::GeneratorImpl {
 public:
  explicit VirtualGenerator(c10::DeviceIndex device)
      : c10::GeneratorImpl({c10::DeviceType::CUDA, device},
                           c10::DispatchKeySet(c10::DispatchKey::CUDA)) {}

  void set_current_seed(std::uint64_t seed) override { seed_ = seed, offset_ = 0; }
  std::uint64_t current_seed() const override { return seed_; }
  // Any fixed seed will do: there is nothing to draw.
  std::uint64_t seed() override { return seed_; }
  void set_offset(std::uint64_t offset) override { offset_ = offset; }
  std::uint64_t get_offset() const override { return offset_; }

  // Sixteen bytes, as the state of a CUDA generator has: seed, offset.
  c10::intrusive_ptr<c10::TensorImpl> get_state() const override {
    at::Tensor state = at::empty({16}, at::TensorOptions().dtype(at::kByte).device(at::kCPU));
    std::memcpy(state.mutable_data_ptr(), &seed_, 8);
    std::memcpy(static_cast<char*>(state.mutable_data_ptr()) + 8, &offset_, 8);
    return state.getIntrusivePtr();
  }
  void set_state(const c10::TensorImpl& state) override {
    TORCH_CHECK(state.numel() * state.itemsize() >= 16, "a CUDA generator state has 16 bytes");
    std::memcpy(&seed_, state.data(), 8);
    std::memcpy(&offset_, static_cast<const char*>(state.data()) + 8, 8);
  }

 private:
  VirtualGenerator* clone_impl() const override {
    auto* copy = new VirtualGenerator(device().index());
    copy->seed_ = seed_;
    copy->offset_ = offset_;
    return copy;
  }

  std::uint64_t seed_ = c10::default_rng_seed_val;
  std::uint64_t offset_ = 0;
};

}  // namespace

at::Generator make_generator(c10::DeviceIndex device) {
  if (device < 0) device = current_device();
  return at::Generator(c10::make_intrusive<VirtualGenerator>(device));
}

const at::Generator& default_generator(c10::DeviceIndex device) {
  static std::array<at::Generator, kMaxGpus> generators;
  if (device < 0) device = current_device();
  at::Generator& generator = generators.at(device);
  if (!generator.defined()) generator = make_generator(device);
  return generator;
}

}  // namespace tidemark::phantom
