// Will it fit? The peak of the tensors, what else the GPU must hold, and the GPU's memory.
//
// The verdict is never surer than what was measured: it fits only where the whole budget does, it
// does not fit only where the tensors alone are too much, and what lies between is tight. What is
// too large without torch.compile may still fit with it: nobody can tell.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "tidemark/engine/answers/peak.h"
#include "tidemark/engine/answers/verdict.h"
#include "tidemark/engine/tape/tape.h"

namespace tidemark {

// What torch.cuda counts of a GPU at its highest.
struct TorchCounts {
  std::int64_t allocated_bytes = 0, reserved_bytes = 0;
  Evidence evidence = Evidence::Modelled;  // measured, where the run was recorded on a GPU
};
using TorchCountsByDevice = std::map<std::string, TorchCounts>;

struct VerdictOptions {
  std::optional<GpuFacts> gpu;  // another GPU than the one the run was made for
};

// None for a run that knows of no GPU: there is nothing it could fit.
std::optional<VerdictAnswer> judge(const RunFacts& run, const PeakAnswer& peak,
                                   const TorchCountsByDevice& counts);
// What the allocators of a run hold at their highest, as PyTorch counted or as they are modelled;
// nothing for a run that knows of no GPU, which nobody judges. Of a peak that is not what PyTorch
// counted a diagnostic tells.
TorchCountsByDevice find_torch_counts(const Tape& tape, const RunFacts& run, const PeakAnswer& peak,
                                      Diagnostics& diagnostics);
// What of a GPU's memory is not the allocator's to give: CUDA's context, workspaces of libraries.
std::int64_t bytes_beside_allocator(const RunFacts& run);

// Throws Error(NotFound) where neither the tape nor the caller names a GPU.
VerdictAnswer find_verdict(const Tape& tape, const VerdictOptions& options = {});

}  // namespace tidemark
