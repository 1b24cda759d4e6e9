// Lays a table out: measure, cut into parts, shrink the widest names, draw.
#include "tidemark/engine/reports/table.h"

#include <algorithm>

#include "tidemark/engine/base/utf8.h"
#include "tidemark/engine/reports/layout.h"

namespace tidemark {
namespace {

constexpr std::size_t kIndent = 2;
constexpr std::size_t kGap = 2;
// A name shorter than this tells nothing; the table is cut into parts instead.
constexpr std::size_t kShortestName = 16;

std::size_t total_width(const std::vector<std::size_t>& part,
                        const std::vector<std::size_t>& widths) {
  std::size_t total = kGap * (part.size() - 1);
  for (std::size_t column : part) total += widths[column];
  return total;
}

// Takes columns off the widest of the part until it fits or all are at their floors.
void shrink(const std::vector<std::size_t>& part, std::vector<std::size_t>& widths,
            const std::vector<std::size_t>& floors, std::size_t limit) {
  while (total_width(part, widths) > limit) {
    std::size_t* widest = nullptr;
    for (std::size_t column : part)
      if (widths[column] > floors[column] && (!widest || widths[column] > *widest))
        widest = &widths[column];
    if (!widest) return;
    --*widest;
  }
}

}  // namespace

void Table::add(std::vector<std::string> cells) {
  cells.resize(columns_.size());
  for (std::string& cell : cells) cell = printable(cell);
  rows_.push_back(std::move(cells));
}

void Table::add_omission(std::size_t rows) {
  add({"… " + format_count(static_cast<std::int64_t>(rows)) + " more"});
}

std::vector<std::size_t> Table::natural_widths(std::size_t limit) const {
  std::vector<std::size_t> widths;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    std::size_t width = head_ == TableHead::None ? 0 : display_width(columns_[c].title);
    for (const auto& row : rows_) width = std::max(width, display_width(row[c]));
    widths.push_back(std::min(width, limit));
  }
  return widths;
}

std::size_t Table::least_width(std::size_t column, std::size_t natural) const {
  return columns_[column].align == Align::Right ? natural : std::min(natural, kShortestName);
}

std::vector<Table::Part> Table::parts_for(const std::vector<std::size_t>& natural,
                                          std::size_t limit) const {
  std::vector<Part> parts = {{0}};
  const std::size_t first = least_width(0, natural[0]);
  std::size_t used = first;
  for (std::size_t c = 1; c < columns_.size(); ++c) {
    const std::size_t needed = kGap + least_width(c, natural[c]);
    if (used + needed > limit && parts.back().size() > 1) {
      parts.push_back({0});
      used = first;
    }
    parts.back().push_back(c);
    used += needed;
  }
  return parts;
}

void Table::fit(const Part& part, std::vector<std::size_t>& widths, std::size_t limit) const {
  std::vector<std::size_t> floors(widths.size());
  for (std::size_t c = 0; c < widths.size(); ++c) floors[c] = least_width(c, widths[c]);
  shrink(part, widths, floors, limit);
  // A sheet too narrow for two columns: everything gives way.
  shrink(part, widths, std::vector<std::size_t>(widths.size(), 1), limit);
}

std::string Table::row_text(const std::vector<std::string>& cells, const Part& part,
                            const std::vector<std::size_t>& widths) const {
  std::string text(kIndent, ' ');
  for (std::size_t c : part) {
    if (c != part.front()) text.append(kGap, ' ');
    text += columns_[c].align == Align::Right ? right_aligned(cells[c], widths[c])
                                              : left_aligned(cells[c], widths[c]);
  }
  return text;
}

void Table::draw_part(Page& page, const Part& part, const std::vector<std::size_t>& widths) const {
  std::vector<std::string> titles;
  for (const TableColumn& column : columns_) titles.push_back(column.title);
  if (head_ != TableHead::None) page.line(row_text(titles, part, widths), Ink::Dim);
  if (head_ == TableHead::Ruled)
    page.line(std::string(kIndent, ' ') + repeated("─", total_width(part, widths)), Ink::Dim);
  for (const auto& row : rows_) page.line(row_text(row, part, widths));
}

void Table::draw(Page& page) const {
  const std::size_t limit = page.width() - kIndent;
  const std::vector<std::size_t> natural = natural_widths(limit);
  bool is_first = true;
  for (const Part& part : parts_for(natural, limit)) {
    if (!is_first) page.gap();
    is_first = false;
    std::vector<std::size_t> widths = natural;
    fit(part, widths, limit);
    draw_part(page, part, widths);
  }
}

}  // namespace tidemark
