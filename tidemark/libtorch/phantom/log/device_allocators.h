// The caching allocators of the virtual GPUs: what torch.cuda tells of memory comes from them.
#pragma once

#include <c10/core/Device.h>

#include <array>
#include <cstdint>
#include <optional>

#include "tidemark/engine/allocator/caching_allocator.h"
#include "tidemark/libtorch/phantom/device/virtual_gpus.h"

namespace tidemark::phantom {

enum class OnOutOfMemory : std::uint8_t { GoOn, Raise };

class DeviceAllocators {
 public:
  DeviceAllocators(OnOutOfMemory on_out_of_memory, const AllocatorSettings& settings)
      : on_out_of_memory_(on_out_of_memory), settings_(settings) {}

  // A block on this thread's stream; kNoBlock where memory has run out, which is only so where that
  // is to be raised.
  BlockId request(c10::DeviceIndex device, std::int64_t bytes);
  void free(c10::DeviceIndex device, BlockId block);
  void record_stream(c10::DeviceIndex device, BlockId block, c10::StreamId stream);
  void empty_caches();
  // A share of the GPU's memory; 1 is no limit.
  void set_fraction(c10::DeviceIndex device, double fraction);
  void set_settings(const AllocatorSettings& settings);

  CachingAllocator& of(c10::DeviceIndex device);

 private:
  OnOutOfMemory on_out_of_memory_;
  AllocatorSettings settings_;
  std::array<std::optional<CachingAllocator>, kMaxGpus> allocators_;
};

}  // namespace tidemark::phantom
