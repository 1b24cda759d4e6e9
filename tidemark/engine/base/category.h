// The categories a storage can be in, and the phases of training: the words every face shares.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace tidemark {

enum class Category : std::uint8_t {
  Unknown,
  Parameter,
  Buffer,
  Gradient,
  Activation,
  Temporary,
  OptimizerState,
  Input,
  ShardedParameter,
  UnshardedParameter,
  ShardedGradient,
  UnshardedGradient,
  AllGather,
  ReduceScatter,
  AutogradDetail,
  Workspace,
  Other,
  Communication,
};
inline constexpr std::size_t kCategoryCount = 18;

enum class Phase : std::uint8_t { Other, Forward, Backward, Recompute, Optimizer };
inline constexpr std::size_t kPhaseCount = 5;

std::string_view name_of(Category category);
std::string_view name_of(Phase phase);
std::optional<Category> category_named(std::string_view name);
std::optional<Phase> phase_named(std::string_view name);

// Bytes by category, indexed by the category's number.
using CategoryBytes = std::array<std::int64_t, kCategoryCount>;

// Those that are not zero, most bytes first: the order in which every face shows them.
std::vector<std::pair<Category, std::int64_t>> sorted_categories(const CategoryBytes& categories);

}  // namespace tidemark
