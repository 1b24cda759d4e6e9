// Kernels that say an operator is under way, where autograd does not say it.
//
// Operators without a derivative pass autograd unseen: factories, the backwards of attention, those
// of other libraries. Each gets a kernel between autograd and its backend that counts and passes
// the call on; the others too, but those switch it off with autograd. They stay for the life of the
// process: to take a kernel away while another thread may be about to call it is not safe.
#pragma once

namespace tidemark::recorder {

// Also for operators that are new since the last call.
void mark_operators();

}  // namespace tidemark::recorder
