// Identities and categories of a recorded run, found slowly with sets, as the rules read.
#pragma once

#include <map>
#include <set>
#include <utility>

#include "tidemark/engine/dataflow/dataflow.h"
#include "tidemark/engine/dataflow/identity.h"

namespace tidemark::test {

using Version = std::pair<std::uint32_t, std::int32_t>;  // a key and a number

// The category of every version of every key.
std::map<Version, Category> slow_labels(const dataflow::Known& known);

// By row of Recording::tensors and then of Recording::allocations.
std::vector<dataflow::Ids> slow_ids(const dataflow::Recording& recording,
                                    const dataflow::Tree& tree);

}  // namespace tidemark::test
