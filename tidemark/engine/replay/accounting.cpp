// What each device rounds up to.
#include "tidemark/engine/replay/accounting.h"

namespace tidemark {

void Accounting::learn_devices() {
  units_.clear();
  for (const Device& device : tables_->devices())
    units_.push_back(rule_ == AccountingRule::Rounded ? device.granularity : 1);
}

}  // namespace tidemark
