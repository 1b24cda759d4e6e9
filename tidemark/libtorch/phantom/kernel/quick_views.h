// The views that make up half of all calls, without boxes, keys and memo.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>

namespace tidemark::phantom {

// A kernel for the operator if it is one of them, else an invalid one. Where the memo is off, and
// for tensors that are anything but plain, it goes the common way.
c10::KernelFunction quick_view(const c10::OperatorHandle& op);

}  // namespace tidemark::phantom
