// The event tree of a finished torch.profiler run laid out in a row: every event before its
// children.
#pragma once

#include <torch/csrc/profiler/collection.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tidemark/engine/dataflow/recording.h"

namespace tidemark::profiler {

using TorchEvent = torch::profiler::impl::Result;
using TorchEvents = std::vector<std::shared_ptr<TorchEvent>>;

// An event, and the row of the one above it.
struct PlacedEvent {
  const TorchEvent* event;
  dataflow::EventId parent;
};

// Good while the roots are.
std::vector<PlacedEvent> rows_of(const TorchEvents& roots);

// Torch's events lie all over memory, each several cache lines long: asks for one that will be read
// soon, so that nobody waits for it.
void fetch_ahead(const std::vector<PlacedEvent>& rows, std::size_t row);

// A module that was called: the address of its Python object, and its class.
struct CalledModule {
  std::uint64_t address;
  std::string class_name;
};
// Each once, in the order of their first calls.
std::vector<CalledModule> called_modules(const TorchEvents& roots);

inline std::uint64_t address_of(const void* pointer) {
  return reinterpret_cast<std::uintptr_t>(pointer);
}

}  // namespace tidemark::profiler
