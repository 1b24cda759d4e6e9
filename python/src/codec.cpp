// Refuses to compress where the build cannot.
#include "python/src/codec.h"

#include "tidemark/engine/base/error.h"
#include "tidemark/readers/codec.h"

namespace tidemark::python {

const Codec* choose_codec(std::optional<bool> compressed) {
  const Codec* codec = compressed.value_or(true) ? find_codec() : nullptr;
  if (compressed.value_or(false) && !codec)
    throw Error(ErrorCode::Unsupported, "this build of tidemark cannot compress", {},
                "install zstd's headers and build again, or say compressed=False");
  return codec;
}

}  // namespace tidemark::python
