// The compressor this build has, if any.
#pragma once

#include <optional>

#include "tidemark/engine/tape/codec.h"

namespace tidemark::python {

// Null when the build has none.
const Codec* find_codec();

// What a caller's `compressed` means: yes, no, or when possible. Throws Error where it is not.
const Codec* choose_codec(std::optional<bool> compressed);

}  // namespace tidemark::python
