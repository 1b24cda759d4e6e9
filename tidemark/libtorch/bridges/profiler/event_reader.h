// The event tree of a finished torch.profiler run as a recording, read where torch keeps it.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "tidemark/engine/dataflow/recording.h"
#include "tidemark/libtorch/bridges/profiler/event_rows.h"

namespace tidemark::profiler {

using TorchOperator = torch::profiler::impl::ExtraFields<torch::profiler::impl::EventType::TorchOp>;

// By the address of a module: its path. An empty one: its calls take no level.
using ModulePaths = std::unordered_map<std::uint64_t, std::string>;

struct ReadEvents {
  dataflow::Recording recording;
  std::vector<const TorchEvent*> events;  // by row of Recording::events
  TorchEvents roots;                      // keep all of them
};

// Modules without a path are named by class and number.
ReadEvents read_events(const TorchEvents& roots, const ModulePaths& paths = {});
// One operator, without its event.
dataflow::Recording read_operator(const TorchOperator& op);

}  // namespace tidemark::profiler
