// Traces of PyTorch's profiler (Chrome's JSON, plain or packed with gzip) as tapes.
#pragma once

#include "tidemark/readers/reader.h"

namespace tidemark::kineto {

// The document's bytes, unpacked. With `salvage` a damaged document is read up to the damage, and
// a diagnostic tells of it. Throws Error with the byte for what cannot be read.
Tape read_trace(ByteSource& document, bool salvage);

}  // namespace tidemark::kineto
