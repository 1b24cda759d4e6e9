// Draws category bars with the fills the chart uses, so that each is the other's legend.
#include "tidemark/engine/reports/bars.h"

#include <algorithm>
#include <cmath>

#include "tidemark/engine/base/saturating.h"
#include "tidemark/engine/base/utf8.h"
#include "tidemark/engine/reports/families.h"
#include "tidemark/engine/reports/layout.h"

namespace tidemark {
namespace {

constexpr std::size_t kShortestBar = 4;

struct BarWidths {
  std::size_t name = 0, bytes = 0, percent = 0, bar = 0;
};

// The bar takes what is left; where little is left, names give way and the bar goes.
BarWidths fit(BarWidths natural, std::size_t page_width) {
  const std::size_t numbers = 2 + 2 + natural.bytes + 2 + natural.percent;
  const std::size_t room = page_width > numbers ? page_width - numbers : 1;
  natural.name = std::min(natural.name, room);
  const std::size_t left = room - natural.name;
  natural.bar = left >= 2 + kShortestBar ? left - 2 : 0;
  return natural;
}

std::size_t cells_for(std::int64_t bytes, std::int64_t longest, std::size_t width) {
  if (bytes <= 0 || longest <= 0 || width == 0) return 0;
  const double share = static_cast<double>(bytes) / static_cast<double>(longest);
  const auto cells = std::lround(share * static_cast<double>(width));
  return std::min(static_cast<std::size_t>(cells), width);
}

struct Bar {
  std::string name;
  std::int64_t bytes = 0;
  const Family* family = &kFamilies.back();
};

std::vector<Bar> bars_of(const CategoryBytes& categories, std::size_t most) {
  std::vector<Bar> bars;
  const auto sorted = sorted_categories(categories);
  const std::size_t whole = sorted.size() <= most ? sorted.size() : most - 1;
  for (std::size_t i = 0; i < whole; ++i)
    bars.push_back({std::string(name_of(sorted[i].first)), sorted[i].second,
                    &kFamilies[family_of(sorted[i].first)]});
  if (whole == sorted.size()) return bars;
  Bar rest{"… " + std::to_string(sorted.size() - whole) + " more"};
  for (std::size_t i = whole; i < sorted.size(); ++i)
    rest.bytes = add_saturating(rest.bytes, sorted[i].second);
  bars.push_back(std::move(rest));
  return bars;
}

}  // namespace

std::string largest_part(const CategoryBytes& categories, std::int64_t total) {
  const auto sorted = sorted_categories(categories);
  if (sorted.empty()) return "-";
  const auto& [category, bytes] = sorted.front();
  return std::string(name_of(category)) + " " + percent_of(bytes, total);
}

void draw_bars(Page& page, const CategoryBytes& categories, std::int64_t total, std::size_t most) {
  const std::vector<Bar> bars = bars_of(categories, most);
  if (bars.empty()) return;
  BarWidths widths;
  for (const Bar& bar : bars) {
    widths.name = std::max(widths.name, display_width(bar.name));
    widths.bytes = std::max(widths.bytes, display_width(page.bytes(bar.bytes)));
    widths.percent = std::max(widths.percent, display_width(percent_of(bar.bytes, total)));
  }
  widths = fit(widths, page.width());
  for (const Bar& bar : bars) {
    const std::size_t cells = cells_for(bar.bytes, bars.front().bytes, widths.bar);
    page.line({{"  " + left_aligned(bar.name, widths.name) + "  " +
                right_aligned(page.bytes(bar.bytes), widths.bytes) + "  " +
                right_aligned(percent_of(bar.bytes, total), widths.percent) + "  "},
               {repeated(bar.family->fill, cells), bar.family->ink}});
  }
}

}  // namespace tidemark
