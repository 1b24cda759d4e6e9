// Keeps the last label of each storage of the category.
#include "tidemark/engine/analyses/owned_bytes.h"

#include <algorithm>

#include "tidemark/engine/base/saturating.h"

namespace tidemark {

// Places are far apart in memory: the one of a storage that was never seen is only written, and the
// processor need not wait for it.
void OwnedBytes::label(const Event& e, const Change& change) {
  if (e.subject >= place_of_.size())
    place_of_.resize(std::max<std::size_t>(e.subject + std::size_t{1}, place_of_.size() * 3 / 2),
                     kNone);
  std::uint32_t& place = place_of_[e.subject];
  if (change.before.life() == StorageState::Life::Unseen || place == kNone) {
    place = static_cast<std::uint32_t>(owned_.size());
    owned_.push_back({e.scope, change.after.bytes()});
    return;
  }
  Owned& owned = owned_[place];
  if (e.kind == Kind::Resize) owned.bytes = std::max(owned.bytes, change.after.bytes());
  else owned = {e.scope, change.after.bytes()};
}

std::vector<std::int64_t> OwnedBytes::by_scope(std::size_t scope_count) const {
  std::vector<std::int64_t> bytes(scope_count);
  for (const Owned& owned : owned_)
    if (owned.scope)
      bytes[owned.scope.value] = add_saturating(bytes[owned.scope.value], owned.bytes);
  return bytes;
}

}  // namespace tidemark
