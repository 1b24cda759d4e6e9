// The few CPU operators that initialise and move weights, for hollow tensors: nothing is run.
#pragma once

namespace tidemark::phantom {

void register_hollow_kernels();
void deregister_hollow_kernels();

}  // namespace tidemark::phantom
