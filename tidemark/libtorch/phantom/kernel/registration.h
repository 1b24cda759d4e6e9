// Puts our kernel on the CUDA key of every operator, and takes it off again.
#pragma once

#include <string>

namespace tidemark::phantom {

void register_kernels();
// Whatever was registered for CUDA meanwhile is there again.
void deregister_kernels();

// After a kernel was registered for "vision::nms" or "aten::add.Tensor": ours before it, anew,
// since its shapes may be others now.
void stand_over(const std::string& name);
// After a library was loaded, which may have brought operators and kernels. One that is told to be
// of torch (`torch.ops.load_library`) may have put kernels on any operator; any other one is taken
// to have done so if it defined some.
void stand_over_library(bool is_of_torch);

}  // namespace tidemark::phantom
