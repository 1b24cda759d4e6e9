// A profiled run before it is understood: events, what operators were given, allocations, owners.
//
// Whoever fills it appends rows to these vectors and names other rows by their number: the bridge
// to torch's profiler, and readers of files. Events may come in any order. A filler that knows the
// tree sets the parents, and appends the children of an event in their order.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tidemark/engine/base/diagnostics.h"
#include "tidemark/engine/base/ids.h"
#include "tidemark/engine/base/interner.h"

namespace tidemark::dataflow {

using EventId = Id<struct EventTag>;
using TensorRow = Id<struct TensorRowTag>;  // of Recording::tensors

enum class EventKind : std::uint8_t {
  Operator,    // detail: row of Recording::operators
  Allocation,  // detail: row of Recording::allocations
  PythonCall,  // detail: row of Recording::owners, or none
  Other,       // only walked through
};

enum class RecordScope : std::uint8_t { Function, BackwardFunction, User, Other };

// Numbers that the recorder did not tell.
inline constexpr std::uint64_t kUnknown = UINT64_MAX;
inline constexpr std::uint32_t kNoRow = UINT32_MAX;

struct Event {
  std::int64_t start_ns = 0, end_ns = 0;
  std::uint64_t thread = 0;
  EventId parent;
  std::uint32_t detail = kNoRow;
  StringId name;  // operators, and Python calls of a module: "Linear_0"
  EventKind kind = EventKind::Other;
  bool is_whole_path = false;  // of a module: the name is not below the one that called it
};

// A tensor as it was when an operator got it or an owner was asked for it.
struct TensorFacts {
  std::uint64_t tensor =
      0;  // the address of the tensor object, or another number of it; 0: not known
  std::uint64_t storage = 0;                     // the address of the storage's data; 0: none
  std::uint32_t first_size = 0, dimensions = 0;  // of Recording::sizes and Recording::strides
  std::uint32_t item_bytes = 0;
  DeviceId device;
  bool strided = true;
  // What the recorder found out itself; asked for where Recording::identified says so.
  std::uint64_t tensor_id = kUnknown, allocation_id = kUnknown;
};

enum class ValueKind : std::uint8_t {
  Nothing,  // also everything that was not recorded
  Tensor,
  TensorList,
  Bool,
  Int,
  Float,
  Complex,
  Other,
};

// An argument of an operator.
struct Value {
  ValueKind kind = ValueKind::Nothing;
  std::uint32_t first = 0, count = 0;  // rows of Recording::tensors: one of a tensor, all of a list
};

struct Operator {
  std::uint32_t first_input = 0, input_count = 0;  // of Recording::inputs
  std::int64_t sequence_number = -1;
  std::uint64_t forward_thread = 0;  // of a backward operator; 0: none
  RecordScope scope = RecordScope::Function;
};

struct Allocation {
  std::uint64_t pointer = 0;
  std::int64_t bytes = 0;  // negative: a free
  DeviceId device;
  std::uint64_t tensor_id = kUnknown, allocation_id = kUnknown;
};

struct NamedTensor {
  StringId name;
  TensorRow tensor;
};

struct OwnedParameter {
  StringId name;
  TensorRow parameter, gradient;                   // an empty one: not known
  std::uint32_t first_state = 0, state_count = 0;  // of Recording::states
};

// A module or an optimizer, at the first event that shows it and at no other.
struct Owner {
  StringId name;
  bool is_optimizer = false;
  std::uint32_t first_parameter = 0, parameter_count = 0;  // of Recording::parameters
};

struct Recording {
  Interner names;
  std::vector<std::string> devices;  // "cpu", "cuda:0"; DeviceIds are their numbers
  std::vector<Event> events;
  std::vector<Operator> operators;
  std::vector<Value> inputs;
  std::vector<TensorFacts> tensors;
  std::vector<std::int64_t> sizes, strides;  // side by side
  std::vector<Allocation> allocations;
  std::vector<Owner> owners;
  std::vector<OwnedParameter> parameters;
  std::vector<NamedTensor> states;
  bool has_tree = false;    // parents are set; otherwise they follow from times and threads
  bool identified = false;  // tensor and allocation ids are set; otherwise they are computed
  Diagnostics diagnostics;  // what the filler found odd

  // The id of this device's name, new or known.
  DeviceId device(std::string_view name);
};

}  // namespace tidemark::dataflow
