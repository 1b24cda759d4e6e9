// Which storage of an execution trace is which allocation of a profiler's trace of the same run.
//
// Operators are the same by the record function's id. What an operator allocates and what it
// returns without having been given it are the same, by size and order:
//
//   profiler          begin mm ---- alloc 64 at 7f00 ---- end mm
//   execution trace   mm(storage 3, storage 4) -> storage 9        so 9 is at 7f00, until it is
//   freed
//
// Numbers of an execution trace are used again when addresses are; the frees of the profiler tell
// when. A storage that is used and was never born was there before.
#pragma once

#include <unordered_map>
#include <vector>

#include "tidemark/readers/chakra/execution_nodes.h"
#include "tidemark/readers/kineto/trace_contents.h"

namespace tidemark::join {

inline constexpr std::uint32_t kNone = UINT32_MAX;

// What an optimizer's step has to do with a storage that was born in it.
enum class Made : std::uint8_t { Elsewhere, Scratch, State };  // state outlives the step

// One storage from its birth to its death.
struct Life {
  std::uint32_t birth = kNone;  // a row of TraceContents::memory; none: it was there before
  DeviceId device;              // of TraceContents::devices; none: the profiler saw none of it
  std::int64_t bytes = 0;
  std::int64_t last_use_ns = 0;
  bool has_tensor = false;  // an operator was given it, or returned it
  bool is_used_outside_optimizers = false;
  Made made = Made::Elsewhere;
};

struct BoundStorages {
  std::vector<Life> lives;
  std::vector<std::uint32_t> of_memory;  // by row of TraceContents::memory
  std::vector<std::uint32_t> of_uses;    // by row of ExecutionNodes::uses
  std::vector<std::uint32_t> nodes;      // by span: the node of the same operator
  std::uint32_t unmatched_operators = 0;
};

// The trace is sorted by time.
BoundStorages bind_storages(const kineto::TraceContents& trace,
                            const chakra::ExecutionNodes& nodes);

}  // namespace tidemark::join
