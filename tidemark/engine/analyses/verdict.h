// Will it fit? The peak of the tensors, what else the GPU must hold, and the GPU's memory.
//
// The verdict is never surer than what was measured: it fits only where the whole budget does, it
// does not fit only where the tensors alone are too much, and what lies between is tight. What is
// too large without torch.compile may still fit with it: nobody can tell.
#pragma once

#include <optional>

#include "tidemark/engine/answers/peak.h"
#include "tidemark/engine/answers/verdict.h"
#include "tidemark/engine/tape/tape.h"

namespace tidemark {

struct VerdictOptions {
  std::optional<GpuFacts> gpu;  // another GPU than the one the run was made for
};

// None for a run that knows of no GPU: there is nothing it could fit.
std::optional<VerdictAnswer> judge(const RunFacts& run, const PeakAnswer& peak);

// Throws Error(NotFound) where neither the tape nor the caller names a GPU.
VerdictAnswer find_verdict(const Tape& tape, const VerdictOptions& options = {});

}  // namespace tidemark
