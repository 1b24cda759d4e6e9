// A memory profile as a tape: births, deaths and categories, with modules, phases and operators.
#pragma once

#include <map>
#include <string>

#include "tidemark/engine/dataflow/dataflow.h"
#include "tidemark/engine/tape/tape.h"

namespace tidemark::dataflow {

// Memory that no tensor was seen with is Unknown. What was there before the run comes first. A step
// begins where the profiler was told of one; where it never was, with the first call of a module
// after an optimizer's step. `meta` is what is known of the run as a whole.
Tape tape_of_dataflow(const Dataflow& dataflow,
                      const std::map<std::string, std::string>& meta = {});

}  // namespace tidemark::dataflow
