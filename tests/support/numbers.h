// Numbers that many tests write: a MiB, and the place of a category among all.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tidemark/engine/base/category.h"

namespace tidemark::test {

inline constexpr std::int64_t kMiB = std::int64_t{1} << 20;

constexpr auto index_of(Category category) { return static_cast<std::size_t>(category); }

}  // namespace tidemark::test
