// Which arguments an operator writes into: those it declares, and those it keeps silent about.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>

namespace tidemark::phantom {

bool writes_argument(const c10::OperatorHandle& op, std::size_t index);
bool writes_any_argument(const c10::OperatorHandle& op);
// resize_, set_, unsqueeze_: changes what a tensor is over, and writes no values.
bool only_reshapes(const c10::OperatorHandle& op);
// Arithmetic in place: another shape afterwards would be an error of the program.
bool keeps_shape_in_place(const c10::OperatorHandle& op);

}  // namespace tidemark::phantom
