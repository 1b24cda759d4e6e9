// From the JSON of an exported model to a graph.
#pragma once

#include <string>

#include "tidemark/engine/base/diagnostics.h"
#include "tidemark/engine/graph/graph.h"

namespace tidemark::pt2 {

// Throws Error(BadFormat) for anything that is not such a model. `found` joins the graph's
// diagnostics.
Graph read_model(const std::string& json, Diagnostics found = {});

}  // namespace tidemark::pt2
