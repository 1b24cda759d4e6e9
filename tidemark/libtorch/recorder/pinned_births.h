// Births and deaths of the host's pinned memory, told by an allocator in front of PyTorch's own.
#pragma once

#include <c10/core/Allocator.h>

namespace tidemark::recorder {

// From now on, for the rest of the process. To be called once CUDA is initialized. False where
// nobody allocates such memory, or where PyTorch's allocator is not as we know it.
bool attach_pinned_births();

// Memory of that allocator: from now on its death is noted.
bool watch_pinned(c10::DataPtr& pointer);

}  // namespace tidemark::recorder
