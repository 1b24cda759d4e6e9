// Hands out zstd where it was built in.
#include "tidemark/readers/codec.h"

#ifdef TIDEMARK_HAS_ZSTD
#include "tidemark/readers/zstd/zstd_codec.h"
#endif

namespace tidemark {

const Codec* find_codec() {
#ifdef TIDEMARK_HAS_ZSTD
  static const ZstdCodec codec;
  return &codec;
#else
  return nullptr;
#endif
}

}  // namespace tidemark
