// The event tree of a finished torch.profiler run as a recording, read where torch keeps it.
#pragma once

#include <torch/csrc/profiler/collection.h>

#include <memory>
#include <vector>

#include "tidemark/engine/dataflow/recording.h"

namespace tidemark::profiler {

using TorchEvent = torch::profiler::impl::Result;
using TorchOperator = torch::profiler::impl::ExtraFields<torch::profiler::impl::EventType::TorchOp>;
using TorchEvents = std::vector<std::shared_ptr<TorchEvent>>;

struct ReadEvents {
  dataflow::Recording recording;
  std::vector<std::shared_ptr<TorchEvent>> events;  // by row of Recording::events
};

// Every event before its children, as PyTorch walks the tree.
ReadEvents read_events(const TorchEvents& roots);
// One operator, without its event.
dataflow::Recording read_operator(const TorchOperator& op);

}  // namespace tidemark::profiler
