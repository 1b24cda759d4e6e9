// What a tape says of the run it was written by: how it ended, on which GPU, with what.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "tidemark/engine/answers/parts.h"

namespace tidemark {

// How a run came to its end.
enum class RunEnd : std::uint8_t {
  Unknown,      // the tape does not say: a killed run, or a tape that was written by hand
  Script,       // the script ended by itself
  Steps,        // it was stopped after the steps that were asked for
  Failed,       // it raised, or ended with an exit code
  Interrupted,  // somebody stopped it
  OutOfMemory,  // it ran out of the GPU's memory, and was let fail
};
inline constexpr std::size_t kRunEndCount = 6;
std::string_view name_of(RunEnd end);

struct GpuFacts {
  std::string name;  // empty where none is known
  std::int64_t memory_bytes = 0;
  std::string capability;  // "9.0"
  bool operator==(const GpuFacts&) const = default;
};

// The first moment at which the GPU's memory did not suffice.
struct OutOfMemory {
  std::string device;
  std::int64_t wanted_bytes = 0, allocated_bytes = 0;  // allocated: before it
  When at;
  bool operator==(const OutOfMemory&) const = default;
};

struct RunFacts {
  std::string kind;  // "estimate", "record"; empty for other tapes
  RunEnd end = RunEnd::Unknown;
  std::string failure;                // the last line of what was raised, with its place
  std::optional<std::int64_t> steps;  // that an optimizer's step has ended
  std::int64_t optimizers = 0;        // that have stepped; 0 where the tape does not say
  std::int64_t ops = 0;
  double wall_seconds = 0;
  std::string torch_version;
  std::string allocator_settings;  // PYTORCH_CUDA_ALLOC_CONF; empty for the defaults
  std::int64_t rank = 0, world_size = 1;
  std::string ranks_alike;  // ranks whose shards are of the same sizes: "0-1016"; empty if unknown
  GpuFacts gpu;
  std::string calibrated_on;     // the GPU whose measured calls were used; empty for rules alone
  std::int64_t nccl_groups = 0;  // of more than one rank
  bool used_matmul = false;      // so cuBLAS took its workspaces
  bool is_uncompiled = false;    // torch.compile was left out: what it was given ran eagerly
  // Of a run that was ended after its steps: how long it was let run on, and what it then raised.
  double further_seconds = 0;
  std::string later_failure;
  std::optional<OutOfMemory> out_of_memory;
  bool operator==(const RunFacts&) const = default;
};

}  // namespace tidemark
