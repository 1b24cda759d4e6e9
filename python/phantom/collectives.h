// Collectives with ranks that are not there: nothing is sent, and all that is waited for has come.
#pragma once

#include <string>

namespace tidemark::phantom {

// Lets the named process group answer as a real one does: reduced tensors come back in the future
// of the work, where DistributedDataParallel takes them from.
void answer_collectives(const std::string& group);

// Gives DistributedDataParallel a clock for CUDA devices. Once, before a CUDA build's own comes.
void register_phase_timer();

}  // namespace tidemark::phantom
