// Makes each GPU's allocator when it is first needed.
#include "tidemark/libtorch/phantom/log/device_allocators.h"

namespace tidemark::phantom {

CachingAllocator& DeviceAllocators::of(c10::DeviceIndex device) {
  auto& allocator = allocators_.at(static_cast<std::size_t>(device));
  if (!allocator) {
    AllocatorOptions options;
    options.settings = settings_;
    options.address_bytes = virtual_gpus().model().memory_bytes;
    if (on_out_of_memory_ == OnOutOfMemory::Raise) options.device_bytes = options.address_bytes;
    allocator.emplace(options);
  }
  return *allocator;
}

// Who goes on has as much memory as is asked for, whatever limit the program has set itself.
BlockId DeviceAllocators::request(c10::DeviceIndex device, std::int64_t bytes, PoolId pool) {
  CachingAllocator& allocator = of(device);
  const auto stream = static_cast<std::uint32_t>(current_stream(device));
  const BlockId block = allocator.malloc(bytes, stream, pool);
  const auto limit = allocator.options().limit_bytes;
  if (block != kNoBlock || on_out_of_memory_ == OnOutOfMemory::Raise || !limit) return block;
  allocator.set_limit(std::nullopt);
  const BlockId beyond = allocator.malloc(bytes, stream, pool);
  allocator.set_limit(limit);
  return beyond;
}

void DeviceAllocators::free(c10::DeviceIndex device, BlockId block) {
  if (block != kNoBlock) of(device).free(block);
}

void DeviceAllocators::record_stream(c10::DeviceIndex device, BlockId block, c10::StreamId stream) {
  if (block != kNoBlock) of(device).record_stream(block, static_cast<std::uint32_t>(stream));
}

void DeviceAllocators::set_fraction(c10::DeviceIndex device, double fraction) {
  const auto memory = static_cast<double>(virtual_gpus().model().memory_bytes);
  of(device).set_limit(fraction < 1 ? std::optional(static_cast<std::int64_t>(fraction * memory))
                                    : std::nullopt);
}

void DeviceAllocators::set_settings(const AllocatorSettings& settings) {
  const TieBreak tie_break = settings_.tie_break;
  settings_ = settings;
  settings_.tie_break = tie_break;
  for (auto& allocator : allocators_)
    if (allocator) allocator->set_settings(settings_);
}

}  // namespace tidemark::phantom
