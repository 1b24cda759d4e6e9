// Tables: natural where there is room, elided or cut into parts where there is not.
#include "tidemark/engine/reports/table.h"

#include <gtest/gtest.h>

#include <sstream>

#include "tidemark/engine/base/utf8.h"

namespace tidemark {
namespace {

std::string drawn(const Table& table, std::size_t width) {
  Page page({.width = width});
  table.draw(page);
  return page.take();
}

std::size_t widest_line(const std::string& text) {
  std::istringstream lines(text);
  std::size_t widest = 0;
  for (std::string line; std::getline(lines, line);) widest = std::max(widest, display_width(line));
  return widest;
}

TEST(Table, ColumnsHaveTheirNaturalWidthsWhenTheyFit) {
  Table table({{"name"}, {"bytes", Align::Right}});
  table.add({"a", "1"});
  table.add({"longer", "12345678"});
  EXPECT_EQ(drawn(table, 80),
            "  name       bytes\n"
            "  ────────────────\n"
            "  a              1\n"
            "  longer  12345678\n");
}

TEST(Table, LinesHaveNoTrailingBlanks) {
  Table table({{"number", Align::Right}, {"name"}});
  table.add({"1", ""});
  table.add({"2", "abc"});
  EXPECT_EQ(drawn(table, 80),
            "  number  name\n"
            "  ────────────\n"
            "       1\n"
            "       2  abc\n");
}

TEST(Table, NamesAreElidedBeforeNumbers) {
  Table table({{"name"}, {"bytes", Align::Right}});
  table.add({std::string(30, 'x') + std::string(30, 'y'), "123456789"});
  const std::string text = drawn(table, 40);
  EXPECT_EQ(widest_line(text), 40u);
  EXPECT_NE(text.find("x…y"), std::string::npos);
  EXPECT_NE(text.find("  123456789\n"), std::string::npos);
}

TEST(Table, ANumberThatDoesNotFitBesideTheOthersStandsInASecondPart) {
  Table table({{"key"}, {"first", Align::Right}, {"second", Align::Right}});
  table.add({"k", "111111111111", "222222222222"});
  EXPECT_EQ(drawn(table, 24),
            "  key         first\n"
            "  ─────────────────\n"
            "  k    111111111111\n"
            "\n"
            "  key        second\n"
            "  ─────────────────\n"
            "  k    222222222222\n");
}

TEST(Table, NoLineIsWiderThanThePageWhateverStandsInIt) {
  const std::string million(1'000'000, 'm');
  Table table({{"a"}, {million, Align::Right}, {"c"}, {"d", Align::Right}});
  table.add({million, "1", million, million});
  for (std::size_t width : {20u, 40u, 80u, 120u})
    EXPECT_LE(widest_line(drawn(table, width)), width) << width;
}

TEST(Table, ControlCharactersAreReplaced) {
  Table table({{"name"}});
  table.add({"a\x1b[31m\nb"});
  EXPECT_EQ(drawn(table, 80),
            "  name\n"
            "  ────────\n"
            "  a\uFFFD[31m\uFFFDb\n");
}

TEST(Table, MissingCellsAreEmpty) {
  Table table({{"a"}, {"b"}});
  table.add({"x"});
  EXPECT_EQ(drawn(table, 80), "  a  b\n  ────\n  x\n");
}

}  // namespace
}  // namespace tidemark
