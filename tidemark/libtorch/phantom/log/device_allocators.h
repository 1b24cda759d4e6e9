// The caching allocators of the virtual GPUs: what torch.cuda tells of memory comes from them.
#pragma once

#include <c10/core/Device.h>

#include <array>
#include <cstdint>
#include <optional>

#include "tidemark/engine/allocator/caching_allocator.h"
#include "tidemark/libtorch/phantom/device/virtual_gpus.h"
#include "tidemark/libtorch/phantom/log/private_pools.h"

namespace tidemark::phantom {

enum class OnOutOfMemory : std::uint8_t { GoOn, Raise };

class DeviceAllocators {
 public:
  DeviceAllocators(OnOutOfMemory on_out_of_memory, const AllocatorSettings& settings)
      : on_out_of_memory_(on_out_of_memory), settings_(settings) {}

  // A block of that pool on this thread's stream; kNoBlock where memory has run out, which is only
  // so where that is to be raised.
  BlockId request(c10::DeviceIndex device, std::int64_t bytes, PoolId pool = kDefaultPool);
  void free(c10::DeviceIndex device, BlockId block);
  void record_stream(c10::DeviceIndex device, BlockId block, c10::StreamId stream);
  // Whether this GPU has had a request yet.
  bool is_used(c10::DeviceIndex device) const {
    return allocators_.at(static_cast<std::size_t>(device)).has_value();
  }
  // A share of the GPU's memory; 1 is no limit.
  void set_fraction(c10::DeviceIndex device, double fraction);
  void set_settings(const AllocatorSettings& settings);

  CachingAllocator& of(c10::DeviceIndex device);
  PrivatePools& pools(c10::DeviceIndex device) {
    return pools_.at(static_cast<std::size_t>(device));
  }

 private:
  OnOutOfMemory on_out_of_memory_;
  AllocatorSettings settings_;
  std::array<std::optional<CachingAllocator>, kMaxGpus> allocators_;
  std::array<PrivatePools, kMaxGpus> pools_;
};

}  // namespace tidemark::phantom
