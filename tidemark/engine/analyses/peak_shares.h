// Who has how much of the storages alive at a peak: scopes, modules, sites, source lines.
#pragma once

#include <vector>

#include "tidemark/engine/answers/peak.h"
#include "tidemark/engine/replay/live_set.h"

namespace tidemark {

// The largest by allocated bytes; the storage's number makes the order of equals fixed.
std::vector<StorageFact> largest_of(std::vector<LiveStorage> alive, std::size_t top,
                                    const Tables& tables);

// A storage belongs to the scope that labelled it last, else to the one it was born in.
std::vector<ScopeShare> owners_of(const std::vector<LiveStorage>& alive, const Tables& tables);

// The same summed over subtrees, down to a depth (0: all), in the order of the tree; what is
// outside of all scopes comes last.
std::vector<ScopeShare> modules_of(const std::vector<LiveStorage>& alive, std::size_t depth,
                                   const Tables& tables);

// At most `top` of each.
std::vector<SiteShare> sites_of(const std::vector<LiveStorage>& alive, std::size_t top,
                                const Tables& tables);
std::vector<LineShare> lines_of(const std::vector<LiveStorage>& alive, std::size_t top,
                                const Tables& tables);

}  // namespace tidemark
