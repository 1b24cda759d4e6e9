// A memory profile as a tape: births, deaths and categories, with modules, phases and operators.
#pragma once

#include "tidemark/engine/dataflow/dataflow.h"
#include "tidemark/engine/tape/tape.h"

namespace tidemark::dataflow {

// Memory that no tensor was seen with is Unknown. What was there before the run comes first.
Tape tape_of_dataflow(const Dataflow& dataflow);

}  // namespace tidemark::dataflow
