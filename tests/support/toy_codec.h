// A small run-length compressor: real enough to test what a codec is handed and hands back.
#pragma once

#include "tidemark/engine/tape/codec.h"

namespace tidemark::test {

// Packs (count, byte) pairs, with every byte turned over so that nothing passes for raw.
class ToyCodec final : public Codec {
 public:
  explicit ToyCodec(std::uint32_t number = 77) : number_(number) {}
  std::uint32_t number() const override { return number_; }
  std::vector<std::byte> compress(std::span<const std::byte> raw) const override;
  void decompress(std::span<const std::byte> packed, std::span<std::byte> raw) const override;

 private:
  std::uint32_t number_;
};

}  // namespace tidemark::test
