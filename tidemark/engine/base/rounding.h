// What allocators round requests up to: the one place that knows of CUDA's 512 bytes.
#pragma once

#include <cstdint>
#include <string_view>

namespace tidemark {

// CUDA's caching allocator hands out multiples of this.
inline constexpr std::int64_t kCudaGranularity = 512;

// What the allocator of a device rounds requests up to, by the device's name.
constexpr std::int64_t granularity_of(std::string_view device) {
  return device == "cuda" || device.starts_with("cuda:") ? kCudaGranularity : 1;
}

// The next multiple of `unit`, which is 1 or more; what would pass 63 bits stays as it is.
constexpr std::int64_t rounded_up(std::int64_t bytes, std::int64_t unit) {
  if (bytes > INT64_MAX - unit) return bytes;
  const std::int64_t past = bytes + unit - 1;
  const bool is_power_of_two = (unit & (unit - 1)) == 0;
  return is_power_of_two ? past & -unit : past / unit * unit;
}

}  // namespace tidemark
