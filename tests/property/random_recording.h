// Random recordings of runs: few addresses, few operators, odd orders, so that much coincides.
#pragma once

#include "tests/property/random_tape.h"
#include "tidemark/engine/dataflow/dataflow.h"

namespace tidemark::test {

dataflow::Recording random_recording(Random& random, std::size_t most_events);

// Schemas of the operators that random recordings have.
std::vector<operators::Schema> schemas_of_random(std::string_view name);

}  // namespace tidemark::test
