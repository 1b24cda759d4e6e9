// A thread of autograd's for each virtual GPU.
#pragma once

namespace tidemark::phantom {

// Autograd counts the devices once, at its first backward. Where that was before now, and there
// were fewer, this starts the threads that are missing.
void give_autograd_threads(int gpus);

}  // namespace tidemark::phantom
