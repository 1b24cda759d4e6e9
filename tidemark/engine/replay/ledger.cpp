// The ledger's rare paths: undoing a change on a copy, a new device, a problem.
#include "tidemark/engine/replay/ledger.h"

namespace tidemark {

const LedgerRow Ledger::kEmptyRow;

LedgerRow row_before(Change change, DeviceId device, LedgerRow row) {
  if (change.after.alive() && change.after.device() == device) row.remove(change.after);
  if (change.before.alive() && change.before.device() == device) row.add(change.before);
  return row;
}

void Ledger::add_rows() {
  device_count_ = tables_->devices().size();
  rows_.resize(device_count_);
}

void Ledger::note(TapeProblem problem) {
  diagnose(diagnostics_, problem, static_cast<std::size_t>(now_.event));
}

}  // namespace tidemark
