// A thread of autograd's for each virtual GPU.
#pragma once

namespace tidemark::phantom {

// Autograd counts the devices once, at its first backward. Where that was before now, and there
// were fewer, this starts the threads that are missing.
void give_autograd_threads(int gpus);
// A thread tells that a backward is done and then lets go of what it had, when the program may be
// allocating again: after this, nothing is held any more. Without Python's lock, which such a
// thread may want.
void wait_for_autograd_threads(int gpus) noexcept;

}  // namespace tidemark::phantom
