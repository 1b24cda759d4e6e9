// How large the tables of a replay will be.
#include "tidemark/engine/replay/replay.h"

#include <algorithm>

namespace tidemark {

std::size_t storage_count(const EventColumns& events) {
  std::size_t count = 0;
  const auto kinds = events.kinds();
  const auto subjects = events.subjects();
  for (std::size_t i = 0; i < events.size(); ++i)
    if (is_about_storage(static_cast<Kind>(kinds[i])))
      count = std::max(count, subjects[i] + std::size_t{1});
  return count;
}

}  // namespace tidemark
