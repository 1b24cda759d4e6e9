// A fast 64-bit checksum against accidents (not against attackers).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace tidemark {

// Four lanes eat 32 bytes a round; the same bytes give the same sum however they are cut:
//
//   bytes  |w0 w1 w2 w3|w0 w1 w2 w3| ... |tail|
//   lanes    0  1  2  3  0  1  2  3        (padded with zeros, length mixed in)
class Checksum {
 public:
  void update(std::span<const std::byte> bytes);
  std::uint64_t value() const;

 private:
  void eat(const std::byte* block);

  static constexpr std::size_t kBlock = 32;
  std::array<std::uint64_t, 4> lanes_ = {0x243f6a8885a308d3, 0x13198a2e03707344, 0xa4093822299f31d0,
                                         0x082efa98ec4e6c89};
  std::array<std::byte, kBlock> pending_{};
  std::size_t pending_size_ = 0;
  std::uint64_t length_ = 0;
};

std::uint64_t checksum(std::span<const std::byte> bytes);

}  // namespace tidemark
