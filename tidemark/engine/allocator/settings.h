// What PYTORCH_CUDA_ALLOC_CONF may say of the caching allocator, and what it says if it is silent.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

namespace tidemark {

// Which of several free blocks of one size is taken.
enum class TieBreak : std::uint8_t {
  Address,       // the lowest address: PyTorch up to 2.13
  Registration,  // the oldest segment, then the lowest address: later ones
};
// The rule of a version of PyTorch: "2.11.0+cu130". Of one that is not known, the older rule.
TieBreak tie_break_of(std::string_view torch_version);

struct AllocatorSettings {
  static constexpr std::int64_t kUnlimited = std::numeric_limits<std::int64_t>::max();
  static constexpr std::int64_t kMiB = std::int64_t{1} << 20;
  // Sizes from 1 MiB up to 64 GiB by powers of two; what is smaller or larger goes with the ends.
  static constexpr std::size_t kIntervals = 16;

  std::int64_t max_split_bytes = kUnlimited;                // blocks from here on are never split
  std::int64_t non_split_slack_bytes = 20 * kMiB;           // how much larger such a block may be
  std::int64_t large_segment_bytes = 20 * kMiB;             // of requests from 1 to 10 MiB
  std::array<std::int64_t, kIntervals> power2_divisions{};  // 0 and 1: none
  double garbage_threshold = 0;                             // of the limit; 0: never collect
  bool expandable_segments = false;
  bool is_native = true;  // false: cudaMallocAsync, of which nothing is known
  TieBreak tie_break = TieBreak::Address;

  bool operator==(const AllocatorSettings&) const = default;
};

// Reads "expandable_segments:True,max_split_size_mb:128". Throws Error(BadArgument) that names the
// place and says what is wanted there. Options that do not concern the GPU's memory are passed
// over.
AllocatorSettings parse_allocator_settings(std::string_view text);

}  // namespace tidemark
