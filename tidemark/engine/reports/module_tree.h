// Scopes as rows of a tree, and the facts of one row by phase and device.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tidemark/engine/answers/scopes.h"

namespace tidemark {

// Deeper trees are drawn flat from here on: a name must remain visible.
inline constexpr std::size_t kDeepestIndent = 12;

bool is_below(std::string_view path, std::string_view parent);

// Each path without the nearest one above it that is shown, and indented below it.
std::vector<std::string> tree_labels(const std::vector<std::string_view>& paths);

// Phases that any scope was called in, forward first.
std::vector<Phase> phases_of(const ScopesAnswer& answer);

// Devices on which any scope had bytes, in the order they are met.
std::vector<std::string> devices_of(const ScopesAnswer& answer);

// Null where the scope has no such calls, or those none on the device.
const ScopeCalls* calls_in(const ScopeFacts& scope, Phase phase);
const ScopeBytes* bytes_on(const ScopeCalls& calls, const std::string& device);

}  // namespace tidemark
