// The ledger's rare paths: a new device, a problem.
#include "tidemark/replay/ledger.h"

namespace tidemark {

const LedgerRow& Ledger::row(DeviceId device) const {
  static const LedgerRow kEmpty;
  return device.value < rows_.size() ? rows_[device.value] : kEmpty;
}

void Ledger::grow() {
  for (std::size_t i = rows_.size(); i < tables_->devices().size(); ++i) {
    rows_.emplace_back();
    rows_.back().device = tables_->devices()[i];
  }
}

void Ledger::note(TapeProblem problem) {
  diagnose(diagnostics_, problem, static_cast<std::size_t>(now_.event));
}

}  // namespace tidemark
