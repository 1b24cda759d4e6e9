// The overloads of operators as torch's registry knows them.
#pragma once

#include <string_view>
#include <vector>

#include "tidemark/engine/dataflow/matching.h"
#include "tidemark/libtorch/bridges/profiler/event_reader.h"

namespace tidemark::profiler {

// In the registry's order; none for a name that it does not know. Each name is looked up once a
// process, and again while it is not known: libraries register theirs when they are loaded.
const std::vector<operators::Schema>& torch_schemas(std::string_view name);

// The numbers of the overloads, in the registry's order, that an operator can have been.
std::vector<std::uint32_t> fitting_overloads(const TorchOperator& op);

}  // namespace tidemark::profiler
