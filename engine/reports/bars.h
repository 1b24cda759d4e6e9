// What a sum of bytes is made of: one bar a category, largest first.
#pragma once

#include <utility>
#include <vector>

#include "tidemark/base/category.h"
#include "tidemark/reports/page.h"

namespace tidemark {

// Those that are not zero, most bytes first.
std::vector<std::pair<Category, std::int64_t>> sorted_categories(const CategoryBytes& categories);

// Percentages are of `total`; the longest bar fills the page.
void draw_bars(Page& page, const CategoryBytes& categories, std::int64_t total);

}  // namespace tidemark
