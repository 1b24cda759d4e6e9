// Operators by name, each with its own function: tables that are written down and searched.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

namespace tidemark::phantom {

template <class Function>
struct CatalogueEntry {
  std::string_view name;  // without overload: "aten::nonzero"
  Function function;
};

// Null for an operator that is not in it.
template <class Function, std::size_t kCount>
Function find_in(const std::array<CatalogueEntry<Function>, kCount>& catalogue,
                 std::string_view name) {
  const auto* found = std::find_if(catalogue.begin(), catalogue.end(),
                                   [&](const auto& entry) { return entry.name == name; });
  return found == catalogue.end() ? nullptr : found->function;
}

}  // namespace tidemark::phantom
