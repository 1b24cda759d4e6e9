// Which operators return the storage of an argument: views and in-place writes, as data.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace tidemark::operators {

enum class Alias : std::uint8_t {
  Never,
  Always,
  Sometimes,  // where a view is possible; a copy otherwise
};

// Whether an operator's results lie on the storage of its first argument. "aten::view" and
// "aten::view.default" are the same; what is not known is never an alias.
Alias alias_of_first_argument(std::string_view name);

// Dropout by its name, without overload: outside of training (its argument `train`, the third) it
// returns its first argument, which no schema says.
bool is_dropout(std::string_view name);

// A tensor's shape in numbers.
struct Layout {
  int dtype = 0, device = 0;
  std::span<const std::int64_t> sizes, strides;
};

// Row after row without gaps.
bool is_contiguous(const Layout& layout);

// For an operator that aliases sometimes: whether it did, told from its argument and its result.
bool is_view_of(const Layout& argument, const Layout& result);

}  // namespace tidemark::operators
