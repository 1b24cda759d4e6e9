// Categories in five families, each with its own fill character and ink, for bars and charts.
#pragma once

#include <array>
#include <string_view>

#include "tidemark/engine/base/category.h"
#include "tidemark/engine/reports/page.h"

namespace tidemark {

struct Family {
  std::string_view name;
  std::string_view fill;  // one column wide; tells families apart without colour
  Ink ink;
};

// From the ground up: what stays is drawn below what comes and goes.
inline constexpr std::array<Family, 5> kFamilies = {{
    {"Parameter", "█", Ink::Blue},
    {"OptimizerState", "▓", Ink::Magenta},
    {"Gradient", "▒", Ink::Yellow},
    {"Activation", "░", Ink::Green},
    {"the rest", "·", Ink::Grey},
}};

// The place of a category's family in kFamilies; sharded and unsharded ones count as their kind.
constexpr std::size_t family_of(Category category) {
  switch (category) {
    case Category::Parameter:
    case Category::ShardedParameter:
    case Category::UnshardedParameter: return 0;
    case Category::OptimizerState: return 1;
    case Category::Gradient:
    case Category::ShardedGradient:
    case Category::UnshardedGradient: return 2;
    case Category::Activation: return 3;
    default: return 4;
  }
}

}  // namespace tidemark
