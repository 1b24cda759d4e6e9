// What each device rounds up to, and the blocks that a tape tells of.
#include "tidemark/engine/replay/accounting.h"

#include <algorithm>

namespace tidemark {

void Accounting::learn_devices() {
  units_.clear();
  for (const Device& device : tables_->devices())
    units_.push_back(rule_ == AccountingRule::Rounded ? device.granularity : 1);
}

// A block has room for what was asked for, whatever the tape says.
ChargedState Accounting::charge(const StorageState& state, std::int64_t block) {
  ChargedState charged = charge(state);
  if (block > 0 && state.alive()) charged.charged = std::max(block, state.bytes);
  return charged;
}

// A storage that is born or gets another size is in another block.
Change Accounting::charge_block(const Event& e, const StorageChange& seen) {
  if (rule_ == AccountingRule::Requested)
    return {charge(seen.before), charge(seen.after), seen.problem};
  if (e.subject >= blocks_.size()) blocks_.resize(e.subject + blocks_.size() / 2 + 1);
  std::int64_t& block = blocks_[e.subject];
  const ChargedState before = charge(seen.before, block);
  if (e.kind == Kind::Block) block = seen.after.alive() ? e.bytes : 0;
  else if (e.kind == Kind::Alloc || e.kind == Kind::Resize || e.kind == Kind::Free) block = 0;
  return {before, charge(seen.after, block), seen.problem};
}

}  // namespace tidemark
