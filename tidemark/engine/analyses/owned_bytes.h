// Which scope owns how many bytes of a category: parameters and buffers.
#pragma once

#include <unordered_map>
#include <vector>

#include "tidemark/engine/tape/storage_states.h"

namespace tidemark {

// A storage belongs to the scope that labelled it last, with the most bytes it had under that
// label, also after it was freed: a module whose weights come and go keeps its size.
class OwnedBytes {
 public:
  explicit OwnedBytes(Category category) : category_(category) {}

  void add(const Event& e, const StorageChange& change) {
    if (e.kind <= Kind::Relabel && change.after.alive() && change.after.category == category_)
      label(e, change.after.bytes);
  }
  // Requested bytes by scope number, for so many scopes.
  std::vector<std::int64_t> by_scope(std::size_t scope_count) const;

 private:
  struct Owned {
    ScopeId scope;
    std::int64_t bytes = 0;
  };
  void label(const Event& e, std::int64_t bytes);

  Category category_;
  std::unordered_map<StorageId, Owned> owned_;
};

}  // namespace tidemark
