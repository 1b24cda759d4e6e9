// What cuDNN keeps for the dropout of recurrent nets: random states, once for each GPU.
#pragma once

#include <c10/core/Device.h>

namespace tidemark::phantom {

// Takes them, unless the GPU has them already.
void keep_dropout_states(c10::DeviceIndex device);
void drop_dropout_states();

}  // namespace tidemark::phantom
