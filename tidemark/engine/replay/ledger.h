// Live bytes by device and category at the event reached, O(1) an event.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "tidemark/engine/base/saturating.h"
#include "tidemark/engine/replay/accounting.h"
#include "tidemark/engine/replay/block_accounting.h"
#include "tidemark/engine/tape/problems.h"

namespace tidemark {

// What is live on one device. The categories always sum to `allocated`.
struct LedgerRow {
  CategoryBytes by_category{};  // charged bytes
  std::int64_t allocated = 0;   // charged bytes
  std::int64_t requested = 0;

  void add(const ChargedState& state) {
    auto& category = by_category[static_cast<std::size_t>(state.category())];
    category = add_saturating(category, state.charged);
    allocated = add_saturating(allocated, state.charged);
    requested = add_saturating(requested, state.bytes());
  }
  void remove(const ChargedState& state) {
    auto& category = by_category[static_cast<std::size_t>(state.category())];
    category = subtract_saturating(category, state.charged);
    allocated = subtract_saturating(allocated, state.charged);
    requested = subtract_saturating(requested, state.bytes());
  }
};

// A device's row as it was before a change, given the row after it. It takes a copy of the change,
// made where it is needed, so that the change itself can stay in registers.
LedgerRow row_before(Change change, DeviceId device, LedgerRow row);

// Where the replay is: the event just added.
struct Moment {
  std::int64_t event = -1;
  std::int64_t time_ns = 0;
  std::int64_t step = 0;
};

class Ledger {
 public:
  // The tables may grow while a run goes on; they must outlive the ledger.
  explicit Ledger(const Tables& tables, AccountingRule rule = AccountingRule::Rounded)
      : tables_(&tables), accounting_(tables, rule) {}
  // Charges the blocks that a caching allocator hands out.
  Ledger(const Tables& tables, const AllocatorOptions& allocator)
      : tables_(&tables), accounting_(tables, AccountingRule::Rounded) {
    blocks_.emplace(tables, allocator);
  }

  // With blocks only where an allocator was given: nobody else shall pay for the question. Inlined
  // in any case: of all that an event does, only what it changes then goes through memory.
  template <bool kByBlocks = false>
  [[gnu::always_inline]] inline Change add(const Event& e) {
    ++now_.event;
    now_.time_ns = e.time_ns;
    if (e.kind == Kind::Step) ++now_.step;
    if constexpr (kByBlocks) {
      if (is_about_pool(e.kind)) [[unlikely]]
        blocks_->take_pool(e);
    }
    Change change;
    if (!is_about_storage(e.kind)) return change;
    StorageChange seen = states_.apply(e);  // not const: g++ 12 keeps what is const in memory
    if (seen.problem != StorageProblem::None) [[unlikely]]
      note(tape_problem(seen.problem));
    change = {accounting_.charge(seen.before), accounting_.charge(seen.after), seen.problem};
    if constexpr (kByBlocks) {
      const BlockAccounting::Charge blocks = blocks_->take(e, seen.before, seen.after);
      change.before.charged = blocks.before;
      change.after.charged = blocks.after;
    }
    if (!changes_storage(e.kind)) return change;
    if (change.before.alive()) rows_[change.before.device().value].remove(change.before);
    if (change.after.alive()) put(change.after);
    return change;
  }

  const Moment& now() const { return now_; }
  // The row of a device; an empty one for a device without events.
  const LedgerRow& row(DeviceId device) const {
    return device.value < device_count_ ? rows_[device.value] : kEmptyRow;
  }
  std::size_t device_count() const { return device_count_; }
  const Tables& tables() const { return *tables_; }
  // Double frees and their like met so far.
  const Diagnostics& diagnostics() const { return diagnostics_; }
  // Makes room for storages below this number at once.
  void reserve(std::size_t storages) { states_.reserve(storages); }
  // Asks the processor to fetch the state of a storage that will soon be needed.
  [[gnu::always_inline]] void prefetch(std::uint32_t storage) const { states_.prefetch(storage); }

 private:
  void put(const ChargedState& state) {
    if (state.device().value >= device_count_) [[unlikely]]
      add_rows();
    LedgerRow& row = rows_[state.device().value];
    row.add(state);
    if (row.allocated == INT64_MAX) [[unlikely]]
      note(TapeProblem::TotalOverflows);
  }
  static const LedgerRow kEmptyRow;

  void note(TapeProblem problem);
  void add_rows();

  const Tables* tables_;
  Accounting accounting_;
  std::optional<BlockAccounting> blocks_;
  StorageStates states_;
  std::vector<LedgerRow> rows_;
  std::size_t device_count_ = 0;  // of rows; a vector divides for it, here at every event
  Moment now_;
  Diagnostics diagnostics_;
};

}  // namespace tidemark
