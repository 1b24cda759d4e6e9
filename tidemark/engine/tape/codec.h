// A compressor that a caller may hand in; the engine itself has none. A tape's reader calls it from
// one thread at a time, and of a large tape not from the caller's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tidemark {

// The number stands in the file: 1 is zstd. 0 means "stored as it is".
inline constexpr std::uint32_t kStored = 0;
inline constexpr std::uint32_t kZstd = 1;

class Codec {
 public:
  virtual ~Codec() = default;
  virtual std::uint32_t number() const = 0;
  virtual std::vector<std::byte> compress(std::span<const std::byte> raw) const = 0;
  // Fills `raw` exactly, or throws Error(BadFormat).
  virtual void decompress(std::span<const std::byte> packed, std::span<std::byte> raw) const = 0;
};

}  // namespace tidemark
