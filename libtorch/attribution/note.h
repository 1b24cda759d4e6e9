// What a live process tells of its storages: 32 bytes that an allocator's callback can afford.
#pragma once

#include <cstdint>

#include "tidemark/torch/attribution/key_index.h"

namespace tidemark::attribution {

enum class NoteKind : std::uint8_t {
  Born,           // a storage was allocated
  Died,           // and freed
  Output,         // an operator returns this storage, on this device
  OperatorEnded,  // an operator of the program is done: what it leaves behind counts from now on
};

// Where the thread was when the note was written.
enum NoteFlags : std::uint8_t {
  kInsideOperator = 1,
  kInBackward = 2,   // the autograd engine was running
  kGradMode = 4,     // gradients were recorded
  kResizes = 8,      // inside an operator that gives storages a new size
  kOutputsOnly = 16  // OperatorEnded: storages that were not named as Output do not count
};

struct Note {
  std::int64_t time_ns = 0;  // 0 where nobody asked for times
  StorageKey key = 0;
  std::int64_t bytes = 0;
  std::uint32_t thread = 0;
  NoteKind kind = NoteKind::Born;
  std::uint8_t device = 0;  // a number of the recorder's list of devices
  std::uint8_t flags = 0;

  bool has(NoteFlags flag) const { return (flags & flag) != 0; }
};
static_assert(sizeof(Note) == 32);

}  // namespace tidemark::attribution
