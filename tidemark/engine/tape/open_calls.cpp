// Links and unlinks open calls.
#include "tidemark/engine/tape/open_calls.h"

#include <algorithm>
#include <utility>

namespace tidemark {

OpenCalls::Slot OpenCalls::newest_of_any_phase(const NewestByPhase& newest) const {
  Slot meant = kNone;
  for (Slot slot : newest)
    if (slot != kNone && (meant == kNone || slots_[slot].call.begin > slots_[meant].call.begin))
      meant = slot;
  return meant;
}

OpenCalls::Slot OpenCalls::take_slot() {
  if (free_.empty()) {
    slots_.emplace_back();
    return static_cast<Slot>(slots_.size() - 1);
  }
  const Slot slot = free_.back();
  free_.pop_back();
  return slot;
}

OpenCalls::Slot OpenCalls::begin(ScopeId scope, Phase phase, std::int64_t event) {
  const std::size_t row = row_of(scope);
  if (row >= newest_of_.size()) {
    NewestByPhase none;
    none.fill(kNone);
    newest_of_.resize(std::max(row + 1, newest_of_.size() * 2), none);
  }
  const Slot slot = take_slot();
  OpenCall& open = slots_[slot];
  open.call = {scope, phase, event};
  open.outer = std::exchange(newest_of_[row][static_cast<std::size_t>(phase)], slot);
  open.older = std::exchange(newest_, slot);
  open.newer = kNone;
  (open.older == kNone ? oldest_ : slots_[open.older].newer) = slot;
  return slot;
}

void OpenCalls::end(Slot slot) {
  const OpenCall& open = slots_[slot];
  newest_of_[row_of(open.call.scope)][static_cast<std::size_t>(open.call.phase)] = open.outer;
  (open.newer == kNone ? newest_ : slots_[open.newer].older) = open.older;
  (open.older == kNone ? oldest_ : slots_[open.older].newer) = open.newer;
  free_.push_back(slot);
}

}  // namespace tidemark
