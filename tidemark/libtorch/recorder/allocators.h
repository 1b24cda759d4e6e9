// The allocators of CPU and meta tensors, each behind one that notes births and deaths.
#pragma once

#include <c10/core/StorageImpl.h>

#include "tidemark/libtorch/attribution/key_index.h"

namespace tidemark::recorder {

// Put in front of PyTorch's allocators, and taken away again. What was allocated in between keeps
// its deleter, which works at any time.
void install_allocators();
void remove_allocators();

// Between the two, the meta storages of this thread are the compiler's, which tries a program out
// on copies of what exists.
void set_compiling(bool compiles);

// The name a storage has in notes; 0 for one without memory.
attribution::StorageKey key_of(const c10::StorageImpl& storage);

// From now on the death of this storage, and its growth, are noted. False where that is not
// possible: its memory is not the allocator's (shared, borrowed or mapped).
bool watch_storage(c10::StorageImpl& storage);

// Whether they are, as far as the storage itself tells.
bool is_watched(const c10::StorageImpl& storage);

// The program made this storage itself, outside of operators (a copy, a file that is read). Its
// birth is told here where its allocator was not ours.
void note_made(c10::StorageImpl& storage);

}  // namespace tidemark::recorder
