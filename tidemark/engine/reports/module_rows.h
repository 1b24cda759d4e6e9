// Which modules a report has room for: small ones and long runs of layers become "… 10 more".
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tidemark/engine/answers/peak.h"
#include "tidemark/engine/answers/scopes.h"

namespace tidemark {

// One line of the tree: a module, or several that are not shown.
struct ModuleRow {
  std::string label;                  // indented
  std::int64_t bytes = 0;             // what it owns of the peak, with all below it
  const ScopeFacts* scope = nullptr;  // null where several are meant, and outside of modules
};

struct ModuleChoice {
  std::size_t most_rows = SIZE_MAX;  // levels of the tree are left out until they fit
  bool hides_small = true;           // below one percent of the peak
  bool folds_layers = true;          // numbered siblings: the first, the last, how many between
};

// The modules of the answer in its order; what the device's peak has outside of modules comes last.
// The scopes must outlive the rows.
std::vector<ModuleRow> choose_modules(const ScopesAnswer& scopes, const DevicePeak& peak,
                                      const ModuleChoice& choice);

}  // namespace tidemark
