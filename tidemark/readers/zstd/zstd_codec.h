// Packs the blocks of a .tape file with zstd.
#pragma once

#include "tidemark/engine/tape/codec.h"

namespace tidemark {

// Has no state: one codec serves any number of files and threads.
class ZstdCodec final : public Codec {
 public:
  std::uint32_t number() const override { return kZstd; }
  std::vector<std::byte> compress(std::span<const std::byte> raw) const override;
  // Memory use is the caller's `raw` and a fixed workspace, whatever the packed bytes claim.
  void decompress(std::span<const std::byte> packed, std::span<std::byte> raw) const override;
};

}  // namespace tidemark
