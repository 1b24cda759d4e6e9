// The rows of a trace, sorted by time, as a tape.
#pragma once

#include "tidemark/engine/tape/tape.h"
#include "tidemark/readers/kineto/storage_labels.h"
#include "tidemark/readers/kineto/trace_contents.h"

namespace tidemark::kineto {

// Throws Error(BadFormat) for a trace without memory events.
Tape tape_of_trace(TraceContents contents, const StorageLabels& labels = {});

}  // namespace tidemark::kineto
