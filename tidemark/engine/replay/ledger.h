// Live bytes by device and category at the event reached, O(1) an event.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tidemark/engine/base/saturating.h"
#include "tidemark/engine/tape/problems.h"
#include "tidemark/engine/tape/storage_states.h"
#include "tidemark/engine/tape/tables.h"

namespace tidemark {

// What is live on one device. The categories always sum to `allocated`.
struct LedgerRow {
  CategoryBytes by_category{};  // allocated bytes
  std::int64_t allocated = 0;
  std::int64_t requested = 0;
};

inline void add_to(LedgerRow& row, const StorageState& state, const Device& device) {
  const std::int64_t bytes = device.allocated_bytes(state.bytes);
  auto& category = row.by_category[static_cast<std::size_t>(state.category)];
  category = add_saturating(category, bytes);
  row.allocated = add_saturating(row.allocated, bytes);
  row.requested = add_saturating(row.requested, state.bytes);
}

inline void remove_from(LedgerRow& row, const StorageState& state, const Device& device) {
  const std::int64_t bytes = device.allocated_bytes(state.bytes);
  auto& category = row.by_category[static_cast<std::size_t>(state.category)];
  category = subtract_saturating(category, bytes);
  row.allocated = subtract_saturating(row.allocated, bytes);
  row.requested = subtract_saturating(row.requested, state.bytes);
}

// Where the replay is: the event just added.
struct Moment {
  std::int64_t event = -1;
  std::int64_t time_ns = 0;
  std::int64_t step = 0;
};

class Ledger {
 public:
  // The tables may grow while a run goes on; they must outlive the ledger.
  explicit Ledger(const Tables& tables) : tables_(&tables) {}

  // Adds the next event; the change is empty for events that are not about a storage.
  StorageChange add(const Event& e) {
    ++now_.event;
    now_.time_ns = e.time_ns;
    if (e.kind == Kind::Step) ++now_.step;
    if (!is_about_storage(e.kind)) return {};
    const StorageChange change = states_.apply(e);
    if (change.problem != StorageProblem::None) [[unlikely]]
      note(tape_problem(change.problem));
    if (e.kind == Kind::Input || e.kind == Kind::Output) return change;
    if (change.before.alive()) take(change.before);
    if (change.after.alive()) put(change.after);
    return change;
  }

  const Moment& now() const { return now_; }
  // The row of a device; an empty one for a device without events.
  const LedgerRow& row(DeviceId device) const {
    return device.value < rows_.size() ? rows_[device.value] : kEmptyRow;
  }
  std::size_t device_count() const { return rows_.size(); }
  // Only for a device that has a row.
  const Device& device(DeviceId id) const { return devices_[id.value]; }
  const Tables& tables() const { return *tables_; }
  const StorageStates& storages() const { return states_; }
  // Double frees and their like met so far.
  const Diagnostics& diagnostics() const { return diagnostics_; }

 private:
  void take(const StorageState& state) {
    remove_from(rows_[state.device.value], state, devices_[state.device.value]);
  }
  void put(const StorageState& state) {
    if (state.device.value >= rows_.size()) [[unlikely]] grow();
    LedgerRow& row = rows_[state.device.value];
    add_to(row, state, devices_[state.device.value]);
    if (row.allocated == INT64_MAX) [[unlikely]] note(TapeProblem::TotalOverflows);
  }
  static const LedgerRow kEmptyRow;

  void grow();
  void note(TapeProblem problem);

  const Tables* tables_;
  StorageStates states_;
  std::vector<LedgerRow> rows_;
  std::vector<Device> devices_;  // as many as rows
  Moment now_;
  Diagnostics diagnostics_;
};

}  // namespace tidemark
