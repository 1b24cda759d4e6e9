// A fast 64-bit checksum against accidents (not against attackers).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace tidemark {

// Eight lanes eat 64 bytes a round; the same bytes give the same sum however they are cut:
//
//   bytes  |w0 w1 ... w7|w0 w1 ... w7| ... |tail|
//   lanes    0  1     7   0  1     7         (padded with zeros, length mixed in)
//
// A lane has the sum of its words, which any changed word changes, and the sum of these sums, each
// rotated further than the next, which tells words that have changed places.
class Checksum {
 public:
  void update(std::span<const std::byte> bytes);
  std::uint64_t value() const;

 private:
  // All whole blocks; what is left of the bytes is returned.
  std::span<const std::byte> eat(std::span<const std::byte> bytes);

  static constexpr std::size_t kLanes = 8, kBlock = 8 * kLanes;
  using Lanes = std::array<std::uint64_t, kLanes>;
  Lanes sums_{}, paths_{};
  std::array<std::byte, kBlock> pending_{};
  std::size_t pending_size_ = 0;
  std::uint64_t length_ = 0;
};

std::uint64_t checksum(std::span<const std::byte> bytes);

}  // namespace tidemark
