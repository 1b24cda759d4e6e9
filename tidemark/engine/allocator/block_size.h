// How large a block a request gets, and how large a segment is taken for it.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "tidemark/engine/allocator/settings.h"
#include "tidemark/engine/base/rounding.h"

namespace tidemark {

inline constexpr std::int64_t kSmallBlockLimit = std::int64_t{1} << 20;  // of the small pool
inline constexpr std::int64_t kSmallSegment = std::int64_t{2} << 20;
inline constexpr std::int64_t kOwnSegmentFrom = std::int64_t{10} << 20;  // rounded, not shared
inline constexpr std::int64_t kSegmentStep = std::int64_t{2} << 20;
// PyTorch refuses what is larger without asking the GPU.
inline constexpr std::int64_t kLargestRequest = (std::int64_t{1} << 60) - 1;

// Up to the next of `divisions` equal steps between two powers of two.
constexpr std::int64_t rounded_to_division(std::int64_t bytes, std::int64_t divisions) {
  const auto size = static_cast<std::uint64_t>(bytes);
  const std::uint64_t floor = std::bit_floor(size);
  const std::uint64_t step = floor / static_cast<std::uint64_t>(divisions);
  if (floor == size) return bytes;
  if (step == 0) return static_cast<std::int64_t>(floor << 1);
  return static_cast<std::int64_t>((size + step - 1) & ~(step - 1));
}

inline std::int64_t divisions_for(std::int64_t bytes, const AllocatorSettings& settings) {
  const int interval = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(bytes))) - 1 - 20;
  const int last = static_cast<int>(AllocatorSettings::kIntervals) - 1;
  return settings.power2_divisions[static_cast<std::size_t>(std::clamp(interval, 0, last))];
}

// Bytes of the block for a request of 1 to kLargestRequest bytes.
inline std::int64_t block_size(std::int64_t bytes, const AllocatorSettings& settings) {
  if (bytes < kCudaGranularity) return kCudaGranularity;
  const std::int64_t divisions = divisions_for(bytes, settings);
  if (divisions > 1 && bytes / kCudaGranularity >= divisions &&
      bytes > kCudaGranularity * divisions)
    return rounded_to_division(bytes, divisions);
  return rounded_up(bytes, kCudaGranularity);
}

// Bytes of the segment that is taken for a block, where segments do not grow.
inline std::int64_t segment_size(std::int64_t block_bytes, const AllocatorSettings& settings) {
  if (block_bytes <= kSmallBlockLimit) return kSmallSegment;
  if (block_bytes < kOwnSegmentFrom) return settings.large_segment_bytes;
  return rounded_up(block_bytes, kSegmentStep);
}

}  // namespace tidemark
