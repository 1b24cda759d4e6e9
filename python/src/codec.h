// The compressor that a caller asks for.
#pragma once

#include <optional>

#include "tidemark/engine/tape/codec.h"

namespace tidemark::python {

// What a caller's `compressed` means: yes, no, or when possible. Throws Error where it is not.
const Codec* choose_codec(std::optional<bool> compressed);

}  // namespace tidemark::python
