// Execution traces (Chakra's schema, written by ExecutionTraceObserver), plain or packed with gzip.
#pragma once

#include "tidemark/engine/base/byte_stream.h"
#include "tidemark/engine/base/diagnostics.h"
#include "tidemark/readers/chakra/execution_nodes.h"

namespace tidemark::chakra {

// The document's bytes, unpacked. With `salvage` a damaged document is read up to the damage, and
// a diagnostic tells of it. Throws Error with the byte for what cannot be read.
ExecutionNodes read_nodes(ByteSource& document, bool salvage, Diagnostics& diagnostics);

}  // namespace tidemark::chakra
