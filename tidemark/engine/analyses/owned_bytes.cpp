// Keeps the last label of each storage of the category.
#include "tidemark/engine/analyses/owned_bytes.h"

#include <algorithm>

#include "tidemark/engine/base/saturating.h"

namespace tidemark {

void OwnedBytes::label(const Event& e, std::int64_t bytes) {
  if (e.subject >= place_of_.size())
    place_of_.resize(std::max<std::size_t>(e.subject + std::size_t{1}, place_of_.size() * 3 / 2),
                     kNone);
  std::uint32_t& place = place_of_[e.subject];
  if (place == kNone) {
    place = static_cast<std::uint32_t>(owned_.size());
    owned_.emplace_back();
  }
  Owned& owned = owned_[place];
  if (e.kind == Kind::Resize) owned.bytes = std::max(owned.bytes, bytes);
  else owned = {e.scope, bytes};
}

std::vector<std::int64_t> OwnedBytes::by_scope(std::size_t scope_count) const {
  std::vector<std::int64_t> bytes(scope_count);
  for (const Owned& owned : owned_)
    if (owned.scope)
      bytes[owned.scope.value] = add_saturating(bytes[owned.scope.value], owned.bytes);
  return bytes;
}

}  // namespace tidemark
