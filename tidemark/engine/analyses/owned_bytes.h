// Which scope owns how many bytes of a category: parameters and buffers.
#pragma once

#include <vector>

#include "tidemark/engine/replay/ledger.h"

namespace tidemark {

// A storage belongs to the scope that labelled it last, with the most bytes it had under that
// label, also after it was freed: a module whose weights come and go keeps its size.
class OwnedBytes {
 public:
  explicit OwnedBytes(Category category) : category_(category) {}

  void add(const Event& e, const Change& change) {
    const bool is_label = changes_storage(e.kind) && e.kind != Kind::Block;
    if (is_label && change.after.category() == category_ && change.after.alive()) label(e, change);
  }
  // Requested bytes by scope number, for so many scopes.
  std::vector<std::int64_t> by_scope(std::size_t scope_count) const;

 private:
  struct Owned {
    ScopeId scope;
    std::int64_t bytes = 0;
  };
  static constexpr std::uint32_t kNone = UINT32_MAX;
  void label(const Event& e, const Change& change);

  Category category_;
  std::vector<std::uint32_t> place_of_;  // in owned_, by storage
  std::vector<Owned> owned_;
};

}  // namespace tidemark
