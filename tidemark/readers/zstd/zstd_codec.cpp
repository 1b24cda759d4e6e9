// Calls libzstd, one frame a block.
#include "tidemark/readers/zstd/zstd_codec.h"

#include <zstd.h>

#include <string>

#include "tidemark/engine/base/error.h"

namespace tidemark {
namespace {

// Columns of small differences pack well even at the fast end; higher levels mostly cost time.
constexpr int kLevel = 3;

}  // namespace

std::vector<std::byte> ZstdCodec::compress(std::span<const std::byte> raw) const {
  std::vector<std::byte> packed(ZSTD_compressBound(raw.size()));
  const std::size_t size =
      ZSTD_compress(packed.data(), packed.size(), raw.data(), raw.size(), kLevel);
  if (ZSTD_isError(size))
    throw Error(ErrorCode::Internal,
                std::string("zstd cannot compress: ") + ZSTD_getErrorName(size));
  packed.resize(size);
  return packed;
}

void ZstdCodec::decompress(std::span<const std::byte> packed, std::span<std::byte> raw) const {
  const std::size_t size = ZSTD_decompress(raw.data(), raw.size(), packed.data(), packed.size());
  if (ZSTD_isError(size))
    throw Error(ErrorCode::BadFormat,
                std::string("a compressed block is damaged: ") + ZSTD_getErrorName(size));
  if (size != raw.size())
    throw Error(ErrorCode::BadFormat, "a compressed block is shorter than it claims");
}

}  // namespace tidemark
