// Binary search in the falling entries.
#include "tidemark/replay/peak_stack.h"

#include <algorithm>

namespace tidemark {

const PeakStack::Entry* PeakStack::highest_since(std::int64_t event) const {
  auto first = std::lower_bound(entries_.begin(), entries_.end(), event,
                                [](const Entry& e, std::int64_t b) { return e.event < b; });
  return first == entries_.end() ? nullptr : &*first;
}

}  // namespace tidemark
