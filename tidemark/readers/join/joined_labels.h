// A profiler's trace and an execution trace of the same run: categories from data flow.
#pragma once

#include "tidemark/readers/chakra/execution_nodes.h"
#include "tidemark/readers/kineto/storage_labels.h"
#include "tidemark/readers/kineto/trace_contents.h"

namespace tidemark::join {

// The trace is sorted by time; what does not fit together is a diagnostic of its builder. Throws
// Error(BadArgument) where no operator of one is in the other.
kineto::StorageLabels find_joined_labels(kineto::TraceContents& trace,
                                         const chakra::ExecutionNodes& nodes);

}  // namespace tidemark::join
