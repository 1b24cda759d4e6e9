// Traces of PyTorch's profiler (Chrome's JSON, plain or packed with gzip) as tapes.
#pragma once

#include "tidemark/engine/base/byte_stream.h"
#include "tidemark/readers/kineto/trace_tape.h"

namespace tidemark::kineto {

// The document's bytes, unpacked. With `salvage` a damaged document is read up to the damage, and
// a diagnostic tells of it. Throws Error with the byte for what cannot be read.
TraceContents read_contents(ByteSource& document, bool salvage);
inline Tape read_trace(ByteSource& document, bool salvage) {
  return tape_of_trace(read_contents(document, salvage));
}

}  // namespace tidemark::kineto
