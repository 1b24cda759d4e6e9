// Places of the dead are taken again, the last to become free first: it is still near.
#include "tidemark/engine/replay/live_set.h"

namespace tidemark {

void LiveSet::reserve(std::size_t storages) {
  if (storages > slot_of_.size()) slot_of_.resize(storages, kNone);
}

std::uint32_t LiveSet::take_slot() {
  if (free_.empty()) {
    slots_.emplace_back();
    return static_cast<std::uint32_t>(slots_.size() - 1);
  }
  const std::uint32_t slot = free_.back();
  free_.pop_back();
  return slot;
}

}  // namespace tidemark
