// The compressor of tapes that this build has, if any.
#pragma once

#include "tidemark/engine/tape/codec.h"

namespace tidemark {

// Null when the build has none.
const Codec* find_codec();

}  // namespace tidemark
