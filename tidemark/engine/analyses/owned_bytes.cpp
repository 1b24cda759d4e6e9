// Keeps the last label of each storage of the category.
#include "tidemark/engine/analyses/owned_bytes.h"

#include <algorithm>

#include "tidemark/engine/base/saturating.h"

namespace tidemark {

void OwnedBytes::label(const Event& e, std::int64_t bytes) {
  Owned& owned = owned_[e.storage()];
  if (e.kind == Kind::Resize)
    owned.bytes = std::max(owned.bytes, bytes);
  else
    owned = {e.scope, bytes};
}

std::vector<std::int64_t> OwnedBytes::by_scope(std::size_t scope_count) const {
  std::vector<std::int64_t> bytes(scope_count);
  for (const auto& [storage, owned] : owned_)
    if (owned.scope)
      bytes[owned.scope.value] = add_saturating(bytes[owned.scope.value], owned.bytes);
  return bytes;
}

}  // namespace tidemark
