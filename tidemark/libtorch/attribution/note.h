// What a run tells of its storages and modules, live or on virtual GPUs: 32 bytes that an
// allocator's callback can afford.
#pragma once

#include <cstdint>
#include <optional>

#include "tidemark/engine/base/category.h"
#include "tidemark/libtorch/attribution/key_index.h"

namespace tidemark::attribution {

using ModuleNumber = std::uint32_t;

enum class NoteKind : std::uint8_t {
  Born,           // a storage was allocated
  Died,           // and freed
  Output,         // an operator returns this storage, on this device
  Made,           // a storage that no operator made, but a tensor stands on: it counts
  OperatorEnded,  // an operator of the program is done: what it leaves behind counts from now on
  From,           // what the thread makes from here on comes of this line and this operator
  Shaped,         // a storage that the operator has made, and the type and shape it is returned as
  StepBegan,      // the program has begun to record gradients: where a step is awaited, it begins
  Resizing,   // outside of operators, a storage is about to get other memory; `bytes`: which one
  Resized,    // it has got this memory, or none
  Forgotten,  // a storage that was left without memory is gone
  // For one tracker:
  Purposed,      // what the thread makes from here on is of a category, or as usual
  Labelled,      // this storage is of a category
  Passed,        // this storage is one of several that the next border of a forward passes
  ForwardBegan,  // a module is called with this storage (0: with none, or with those passed)
  ForwardEnded,  // and returns this one
  BackwardBegan,
  BackwardEnded,
};

// The note is about the border of a module, or about what passes it.
constexpr bool is_about_module(NoteKind kind) {
  return kind == NoteKind::Passed || kind == NoteKind::ForwardBegan ||
         kind == NoteKind::ForwardEnded || kind == NoteKind::BackwardBegan ||
         kind == NoteKind::BackwardEnded;
}

// Where the thread was when the note was written.
enum NoteFlags : std::uint8_t {
  kInsideOperator = 1,
  kInBackward = 2,         // the autograd engine was running
  kGradMode = 4,           // gradients were recorded
  kResizes = 8,            // inside an operator that may give storages a new size
  kOutputsOnly = 16,       // OperatorEnded: storages that were not named as Output do not count
  kFailed = 32,            // ForwardEnded: the module raised
  kOfGradient = 32,        // Born: autograd is giving a leaf its gradient
  kEndsWithBackward = 64,  // ForwardBegan: no gradient of the module's inputs will tell its end
  kOfNothing = 64,         // Born: by an operator that was given no tensor of the device
  kOfNumber = 128          // Born: a tensor made of a number that an operator is given
};

struct Note {
  std::int64_t time_ns = 0;  // 0 where nobody asked for times
  StorageKey key = 0;
  std::int64_t bytes = 0;  // of a module's note: its number; of a purpose: its category, or -1
  std::uint32_t thread = 0;
  NoteKind kind = NoteKind::Born;
  std::uint8_t device = 0;  // a number of the recorder's list of devices
  std::uint8_t flags = 0;   // of a Labelled one: the category
  std::uint8_t to = 0;      // the tracker it is for; 0 for all

  bool has(NoteFlags flag) const { return (flags & flag) != 0; }
  ModuleNumber module() const { return static_cast<ModuleNumber>(bytes); }
  Category category() const { return static_cast<Category>(flags); }
  std::optional<Category> purpose() const {
    return bytes < 0 ? std::nullopt : std::optional(static_cast<Category>(bytes));
  }
};
static_assert(sizeof(Note) == 32);

}  // namespace tidemark::attribution
