// Names of categories and phases, both ways.
#include "tidemark/engine/base/category.h"

#include <algorithm>

namespace tidemark {
namespace {

constexpr std::array<std::string_view, kCategoryCount> kCategoryNames = {"Unknown",
                                                                         "Parameter",
                                                                         "Buffer",
                                                                         "Gradient",
                                                                         "Activation",
                                                                         "Temporary",
                                                                         "OptimizerState",
                                                                         "Input",
                                                                         "ShardedParameter",
                                                                         "UnshardedParameter",
                                                                         "ShardedGradient",
                                                                         "UnshardedGradient",
                                                                         "AllGather",
                                                                         "ReduceScatter",
                                                                         "AutogradDetail",
                                                                         "Workspace",
                                                                         "Other",
                                                                         "Communication"};

constexpr std::array<std::string_view, kPhaseCount> kPhaseNames = {"other", "forward", "backward",
                                                                   "recompute", "optimizer"};

template <class Enum, class Names>
std::optional<Enum> find_named(const Names& names, std::string_view name) {
  auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) return std::nullopt;
  return static_cast<Enum>(found - names.begin());
}

}  // namespace

std::string_view name_of(Category category) {
  return kCategoryNames[static_cast<std::size_t>(category)];
}

std::string_view name_of(Phase phase) { return kPhaseNames[static_cast<std::size_t>(phase)]; }

std::optional<Category> category_named(std::string_view name) {
  return find_named<Category>(kCategoryNames, name);
}

std::optional<Phase> phase_named(std::string_view name) {
  return find_named<Phase>(kPhaseNames, name);
}

std::vector<std::pair<Category, std::int64_t>> sorted_categories(const CategoryBytes& categories) {
  std::vector<std::pair<Category, std::int64_t>> sorted;
  for (std::size_t c = 0; c < categories.size(); ++c)
    if (categories[c] != 0) sorted.emplace_back(static_cast<Category>(c), categories[c]);
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  return sorted;
}

}  // namespace tidemark
