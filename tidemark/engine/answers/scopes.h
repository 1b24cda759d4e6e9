// What each module call does to memory, as an answer.
#pragma once

#include <vector>

#include "tidemark/engine/answers/parts.h"
#include "tidemark/engine/base/diagnostics.h"

namespace tidemark {

// One device's allocated bytes around and inside a call, or over all calls of a phase.
struct ScopeBytes {
  std::string device;
  std::int64_t before = 0;  // of the first call
  std::int64_t after = 0;   // of the last call
  std::int64_t peak = 0;    // the highest of all calls, with what it was made of
  std::int64_t grown = 0;   // the sum of after - before
  CategoryBytes peak_categories{};
  std::int64_t peak_event = -1;
  bool operator==(const ScopeBytes&) const = default;
};

struct ScopeCalls {
  Phase phase = Phase::Other;
  std::int64_t calls = 0;       // 1 in a single call's row
  std::int64_t first_call = 1;  // which call of this phase by its end, from 1, in the whole run
  std::int64_t first_event = -1, last_event = -1;
  std::int64_t input_bytes = 0, output_bytes = 0;  // requested, summed over the calls
  std::vector<ScopeBytes> devices;
  bool operator==(const ScopeCalls&) const = default;
};

struct ScopeFacts {
  std::string path;
  std::size_t depth = 1;
  std::int64_t parameter_bytes = 0, buffer_bytes = 0;  // requested, of this scope and those below
  std::vector<ScopeCalls> phases;  // summed by phase, in the order of the phases
  std::vector<ScopeCalls> calls;   // each call in the order of ends, when asked for
  bool operator==(const ScopeFacts&) const = default;
};

struct ScopesAnswer {
  std::vector<ScopeFacts> scopes;  // parents before children, names in natural order
  Diagnostics diagnostics;
  bool operator==(const ScopesAnswer&) const = default;
};

}  // namespace tidemark
