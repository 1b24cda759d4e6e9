// What a sum of bytes is made of: one bar a category, largest first.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tidemark/engine/base/category.h"
#include "tidemark/engine/reports/page.h"

namespace tidemark {

// "Activation 62.0%": the largest of them, as a part of `total`; "-" when there is none.
std::string largest_part(const CategoryBytes& categories, std::int64_t total);

// Percentages are of `total`; the longest bar fills the page. Past `most` bars, the smallest become
// one line.
void draw_bars(Page& page, const CategoryBytes& categories, std::int64_t total,
               std::size_t most = SIZE_MAX);

}  // namespace tidemark
