// The scope calls that are open, and which of them an end means; ends need not nest.
//
// Each open call has a slot. Slots are linked twice: in the order of begins, and from each call
// to the one of its scope and phase that began before it. So every answer is O(1):
//
//   begin a forward, b forward, a backward      a ---- b ---- a'     newest: a'
//   end a forward                               the first a is meant, though a' is newer
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "tidemark/engine/base/category.h"
#include "tidemark/engine/base/ids.h"

namespace tidemark {

class OpenCalls {
 public:
  using Slot = std::uint32_t;
  static constexpr Slot kNone = UINT32_MAX;

  struct Call {
    ScopeId scope;
    Phase phase = Phase::Other;
    std::int64_t begin = 0;  // the event
  };

  // Opens a call at an event after all others so far. Slots of ended calls are used again.
  Slot begin(ScopeId scope, Phase phase, std::int64_t event);
  // The call that an end, an input or an output of this scope and phase means: the newest that
  // began in the phase, else the newest of any; kNone when the scope is not open.
  Slot meant(ScopeId scope, Phase phase) const {
    const std::size_t row = row_of(scope);
    if (row >= newest_of_.size()) return kNone;
    const Slot own = newest_of_[row][static_cast<std::size_t>(phase)];
    return own != kNone ? own : newest_of_any_phase(newest_of_[row]);
  }
  // Ends an open call that is the newest of its scope and phase, as every meant one is.
  void end(Slot slot);

  // Good until the next begin, also for a call that has just ended.
  const Call& operator[](Slot slot) const { return slots_[slot].call; }
  Slot newest() const { return newest_; }
  Slot oldest() const { return oldest_; }
  // The open calls that began next and last before; kNone where there is none.
  Slot newer(Slot slot) const { return slots_[slot].newer; }
  Slot older(Slot slot) const { return slots_[slot].older; }
  ScopeId innermost() const { return newest_ == kNone ? ScopeId() : slots_[newest_].call.scope; }
  std::size_t size() const { return slots_.size() - free_.size(); }
  bool empty() const { return newest_ == kNone; }

 private:
  using NewestByPhase = std::array<Slot, kPhaseCount>;
  struct OpenCall {
    Call call;
    Slot outer = kNone;                 // the open call of this scope and phase that began before
    Slot older = kNone, newer = kNone;  // the neighbours by begin, of all open calls
  };

  // Calls without a scope have a row too: the first.
  static std::size_t row_of(ScopeId scope) { return static_cast<std::uint32_t>(scope.value + 1); }
  Slot newest_of_any_phase(const NewestByPhase& newest) const;
  Slot take_slot();

  std::vector<OpenCall> slots_;  // open calls, and free places for more
  std::vector<Slot> free_;
  std::vector<NewestByPhase> newest_of_;  // by scope
  Slot newest_ = kNone, oldest_ = kNone;  // of all open calls
};

}  // namespace tidemark
