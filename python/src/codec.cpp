// Hands out zstd where the readers were built with it.
#include "python/src/codec.h"

#include "tidemark/engine/base/error.h"
#ifdef TIDEMARK_HAS_ZSTD
#include "tidemark/readers/zstd/zstd_codec.h"
#endif

namespace tidemark::python {

const Codec* find_codec() {
#ifdef TIDEMARK_HAS_ZSTD
  static const ZstdCodec codec;
  return &codec;
#else
  return nullptr;
#endif
}

const Codec* choose_codec(std::optional<bool> compressed) {
  const Codec* codec = compressed.value_or(true) ? find_codec() : nullptr;
  if (compressed.value_or(false) && !codec)
    throw Error(ErrorCode::Unsupported, "this build of tidemark cannot compress", {},
                "install zstd's headers and build again, or say compressed=False");
  return codec;
}

}  // namespace tidemark::python
