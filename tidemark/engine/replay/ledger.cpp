// The ledger's rare paths: a new device, a problem.
#include "tidemark/engine/replay/ledger.h"

namespace tidemark {

const LedgerRow Ledger::kEmptyRow;

void Ledger::grow() {
  devices_ = tables_->devices();
  rows_.resize(devices_.size());
}

void Ledger::note(TapeProblem problem) {
  diagnose(diagnostics_, problem, static_cast<std::size_t>(now_.event));
}

}  // namespace tidemark
