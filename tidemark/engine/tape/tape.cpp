// Finds the steps of a tape.
#include "tidemark/engine/tape/tape.h"

#include <algorithm>

namespace tidemark {

Tape::Tape(Tables tables, EventColumns events, Diagnostics diagnostics)
    : tables_(std::move(tables)), events_(std::move(events)), diagnostics_(std::move(diagnostics)) {
  const auto kinds = events_.kinds();
  for (std::size_t i = 0; i < kinds.size(); ++i)
    if (kinds[i] == static_cast<std::uint8_t>(Kind::Step)) step_begins_.push_back(i);
}

std::int64_t Tape::step_at(std::size_t event) const {
  return std::upper_bound(step_begins_.begin(), step_begins_.end(), event) - step_begins_.begin();
}

}  // namespace tidemark
