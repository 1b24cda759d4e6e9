// Finds the steps of a tape.
#include "tidemark/engine/tape/tape.h"

#include <algorithm>
#include <cstring>

namespace tidemark {

Tape::Tape(Tables tables, EventColumns events, Diagnostics diagnostics)
    : tables_(std::move(tables)), events_(std::move(events)), diagnostics_(std::move(diagnostics)) {
  const auto kinds = events_.kinds();
  std::size_t at = 0;
  while (at < kinds.size()) {
    const void* const step =
        std::memchr(kinds.data() + at, static_cast<int>(Kind::Step), kinds.size() - at);
    if (!step) break;
    at = static_cast<std::size_t>(static_cast<const std::uint8_t*>(step) - kinds.data());
    step_begins_.push_back(at++);
  }
}

std::int64_t Tape::step_at(std::size_t event) const {
  return std::upper_bound(step_begins_.begin(), step_begins_.end(), event) - step_begins_.begin();
}

}  // namespace tidemark
