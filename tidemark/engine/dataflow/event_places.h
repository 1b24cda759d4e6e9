// Where the events of a recording happen: module, phase and operator.
#pragma once

#include <string>
#include <vector>

#include "tidemark/engine/base/category.h"
#include "tidemark/engine/dataflow/tree.h"

namespace tidemark::dataflow {

struct EventPlaces {
  std::vector<std::string> scopes;      // paths of modules: "Net_0.Linear_1"; the first is empty
  std::vector<std::uint32_t> scope_of;  // by position: a row of scopes
  std::vector<Phase> phase_of;          // by position
  std::vector<Position> operator_of;    // by position: the node around it, or none
  std::vector<Position> module_calls;   // those that begin a scope, by time
};

// What a module computes is forward; again below a backward function, recomputed. A backward
// function belongs to the module that its forward operator ran in, by its sequence number.
EventPlaces find_places(const Recording& recording, const Tree& tree,
                        const std::vector<Position>& nodes);

}  // namespace tidemark::dataflow
