// How many bytes a device is charged for a storage.
#pragma once

#include <cstdint>
#include <vector>

#include "tidemark/engine/base/rounding.h"
#include "tidemark/engine/base/saturating.h"
#include "tidemark/engine/tape/storage_states.h"
#include "tidemark/engine/tape/tables.h"

namespace tidemark {

enum class AccountingRule : std::uint8_t {
  Rounded,    // the block that the tape tells of, else what the device's allocator rounds to
  Requested,  // the bytes that were asked for
};  // and the block that a modelled allocator hands out: tidemark/engine/replay/block_accounting.h

// A storage as a replay sees it; nothing is charged where it is not alive.
struct ChargedState : StorageState {
  std::int64_t charged = 0;
};

// What an event does to a storage; empty for events that are not about one.
struct Change {
  ChargedState before, after;
  StorageProblem problem = StorageProblem::None;
};

class Accounting {
 public:
  // The tables may grow while a run goes on; they must outlive the accounting.
  Accounting(const Tables& tables, AccountingRule rule) : tables_(&tables), rule_(rule) {}

  ChargedState charge(const StorageState& state) {
    if (!state.alive()) return {state};
    if (state.device().value >= units_.size()) [[unlikely]]
      learn_devices();
    std::int64_t charged = rounded_up(state.bytes(), units_[state.device().value]);
    if (state.spare() != StorageState::kUnknownSpare) [[unlikely]]
      if (rule_ == AccountingRule::Rounded) charged = add_saturating(state.bytes(), state.spare());
    return {state, charged};
  }

 private:
  void learn_devices();

  const Tables* tables_;
  AccountingRule rule_;
  std::vector<std::int64_t> units_;  // by device
};

}  // namespace tidemark
