// Columns that fit the page: natural widths where there is room, names elided where there is not.
#pragma once

#include <string>
#include <vector>

#include "tidemark/engine/reports/page.h"

namespace tidemark {

// Left: names, which may be elided. Right: numbers, which keep their width.
enum class Align : std::uint8_t { Left, Right };

// What stands above the rows.
enum class TableHead : std::uint8_t { Ruled, Titles, None };

struct TableColumn {
  std::string title;
  Align align = Align::Left;
};

// When even elided names leave no room for all numbers, the table is cut into parts that stand
// below each other, each beginning with the first column:
//
//   module  calls    before          module   after    peak
//   ──────────────────────           ──────────────────────
//   layers      2  1.00 GiB          layers   2 GiB   3 GiB
class Table {
 public:
  explicit Table(std::vector<TableColumn> columns, TableHead head = TableHead::Ruled)
      : columns_(std::move(columns)), head_(head) {}

  // One cell a column; whatever the text, it is made printable.
  void add(std::vector<std::string> cells);
  // A row that says how many rows are left out here.
  void add_omission(std::size_t rows);
  bool empty() const { return rows_.empty(); }
  void draw(Page& page) const;

 private:
  using Part = std::vector<std::size_t>;  // the columns that stand side by side

  std::vector<std::size_t> natural_widths(std::size_t limit) const;
  std::vector<Part> parts_for(const std::vector<std::size_t>& natural, std::size_t limit) const;
  std::size_t least_width(std::size_t column, std::size_t natural) const;
  void fit(const Part& part, std::vector<std::size_t>& widths, std::size_t limit) const;
  void draw_part(Page& page, const Part& part, const std::vector<std::size_t>& widths) const;
  std::string row_text(const std::vector<std::string>& cells, const Part& part,
                       const std::vector<std::size_t>& widths) const;

  std::vector<TableColumn> columns_;
  TableHead head_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace tidemark
