// Page-locked host memory of the virtual machine: ordinary memory that remembers its name.
#pragma once

#include <c10/core/Allocator.h>

namespace tidemark::phantom {

c10::Allocator* pinned_allocator();
bool is_pinned(const void* data);

}  // namespace tidemark::phantom
