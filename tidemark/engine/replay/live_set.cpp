// A dense array with swap-and-pop, so that walking it costs only what is alive.
#include "tidemark/engine/replay/live_set.h"

#include <algorithm>

namespace tidemark {

void LiveSet::insert(const Event& e, const StorageState& state, const Moment& now) {
  if (e.subject >= slot_of_.size())
    slot_of_.resize(std::max<std::size_t>(e.subject + std::size_t{1}, slot_of_.size() * 2), kNone);
  std::uint32_t& slot = slot_of_[e.subject];
  if (slot == kNone) {
    slot = static_cast<std::uint32_t>(slots_.size());
    slots_.emplace_back();
  }
  slots_[slot] = {e.storage(), state, {now, e.scope, e.stack, e.call, e.phase}, e.scope,
                   now.event};
}

void LiveSet::erase(StorageId storage) {
  const std::uint32_t slot = slot_of_[storage.value];
  slot_of_[storage.value] = kNone;
  const LiveStorage& last = slots_.back();
  if (last.storage != storage) {
    slot_of_[last.storage.value] = slot;
    slots_[slot] = last;
  }
  slots_.pop_back();
}

}  // namespace tidemark
