// The ledger's rare paths: undoing a change on a copy, a problem.
#include "tidemark/engine/replay/ledger.h"

namespace tidemark {

const LedgerRow Ledger::kEmptyRow;

LedgerRow row_before(const Change& change, DeviceId device, LedgerRow row) {
  if (change.after.alive() && change.after.device == device) row.remove(change.after);
  if (change.before.alive() && change.before.device == device) row.add(change.before);
  return row;
}

void Ledger::note(TapeProblem problem) {
  diagnose(diagnostics_, problem, static_cast<std::size_t>(now_.event));
}

}  // namespace tidemark
