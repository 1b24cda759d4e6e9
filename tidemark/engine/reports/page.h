// The sheet a text report is written on: lines that fit, ink only where colour is wanted.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tidemark/engine/reports/text.h"

namespace tidemark {

enum class Ink : std::uint8_t { Plain, Bold, Dim, Blue, Magenta, Yellow, Green, Grey };

// A piece of a line in one ink.
struct Inked {
  std::string text;
  Ink ink = Ink::Plain;
};

class Page {
 public:
  explicit Page(const TextStyle& style);

  // Trailing blanks are cut; what is wider than the page is elided.
  void line(std::string_view text, Ink ink = Ink::Plain);
  void line(std::vector<Inked> runs);
  // Wraps at blanks; every line but the first starts `hanging` columns further in.
  void paragraph(std::string_view text, std::size_t indent = 0, std::size_t hanging = 0,
                 Ink ink = Ink::Plain);
  // One blank line, however often asked for; none at the top.
  void gap();
  // A gap, then the title of what follows.
  void heading(std::string_view title);

  std::size_t width() const { return width_; }
  std::string bytes(std::int64_t count) const { return format_bytes(count, units_); }
  std::string change(std::int64_t count) const { return format_change(count, units_); }
  std::string take();

 private:
  std::size_t width_;
  bool colour_;
  Units units_;
  bool gap_pending_ = false;
  std::string text_;
};

}  // namespace tidemark
