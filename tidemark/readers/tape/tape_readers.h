// Tapes of both forms as entries of the catalogue; the engine reads them.
#pragma once

#include "tidemark/readers/reader.h"

namespace tidemark {

extern const Reader kBinaryTape, kTextTape;

}  // namespace tidemark
