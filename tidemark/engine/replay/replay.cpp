// How large the tables of a replay will be.
#include "tidemark/engine/replay/replay.h"

#include <algorithm>

namespace tidemark {

std::size_t storage_count(const EventColumns& events) {
  constexpr std::uint32_t kOfStorage = kinds_of_which(is_about_storage);
  const auto kinds = events.kinds();
  const auto subjects = events.subjects();
  std::uint32_t highest = 0, any = 0;
  for (std::size_t i = 0; i < events.size(); ++i) {
    const std::uint32_t is_storage = (kOfStorage >> kinds[i]) & 1;
    highest = std::max(highest, subjects[i] & -is_storage);
    any |= is_storage;
  }
  return any ? highest + std::size_t{1} : 0;
}

}  // namespace tidemark
