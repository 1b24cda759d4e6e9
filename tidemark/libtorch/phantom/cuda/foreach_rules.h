// Operators over whole lists of parameters: rules of ours instead of a meta call for each tensor.
#pragma once

#include "tidemark/libtorch/phantom/kernel/call_frame.h"

namespace tidemark::phantom {

// In place: nothing is born. Out of place over float tensors: one result like each tensor.
bool follow_foreach_rule(CallFrame& frame);
// For operators that only write into what they are given.
bool do_nothing(CallFrame& frame);

}  // namespace tidemark::phantom
