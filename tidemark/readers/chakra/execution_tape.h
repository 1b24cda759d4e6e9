// An execution trace alone as a tape: storages from their first to their last use.
#pragma once

#include "tidemark/engine/base/diagnostics.h"
#include "tidemark/engine/tape/tape.h"
#include "tidemark/readers/chakra/execution_nodes.h"

namespace tidemark::chakra {

// Such a trace has neither times nor frees: each begin and end of an operator is a nanosecond, a
// storage is born in the operator that first returns it and dies after the last that names it. One
// that is first seen as an argument was there before.
Tape tape_of_nodes(const ExecutionNodes& nodes, const Diagnostics& found);

}  // namespace tidemark::chakra
