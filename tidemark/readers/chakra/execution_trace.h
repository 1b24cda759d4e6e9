// Execution traces as an entry of the catalogue, also in builds that cannot read them.
#pragma once

#include "tidemark/readers/reader.h"

namespace tidemark {

extern const Reader kExecutionTrace;

bool is_execution_trace(const Candidate& file);

}  // namespace tidemark
