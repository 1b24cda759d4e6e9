// What one thread of the program does, and so what the storages are that it makes.
#pragma once

#include <cstdint>
#include <optional>

#include "tidemark/engine/base/category.h"
#include "tidemark/libtorch/attribution/rules.h"

namespace tidemark::attribution {

struct ThreadWork {
  int modules_open = 0;
  bool in_optimizer = false;
  bool in_closure = false;  // of an optimizer's step: a forward and a backward, as anywhere else
  bool recomputing = false, creates_graph = false;
  // What the thread makes is of this category, whatever it does, but for an optimizer's step;
  // nothing: as usual.
  std::optional<Category> purpose;

  // Where a note has these flags; `has_steps`: a training step has begun.
  Phase phase(std::uint8_t flags, const Rules& rules, bool has_steps) const;
  Category category(std::uint8_t flags, const Rules& rules, bool has_steps) const;
};

}  // namespace tidemark::attribution
