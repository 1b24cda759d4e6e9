// Writes lines and paints them with ANSI sequences.
#include "tidemark/engine/reports/page.h"

#include <algorithm>
#include <array>

#include "tidemark/engine/base/utf8.h"
#include "tidemark/engine/reports/layout.h"

namespace tidemark {
namespace {

constexpr std::array<std::string_view, 8> kInkCodes = {"", "1", "2", "34", "35", "33", "32", "90"};

// Narrower sheets hold no table at all; they are taken as this wide.
constexpr std::size_t kNarrowest = 20;

void append_painted(std::string& out, const Inked& run) {
  const std::string_view code = kInkCodes[static_cast<std::size_t>(run.ink)];
  if (code.empty() || run.text.empty()) {
    out += run.text;
    return;
  }
  out.append("\x1b[").append(code).append("m").append(run.text).append("\x1b[0m");
}

void cut_trailing_blanks(std::vector<Inked>& runs) {
  while (!runs.empty()) {
    std::string& text = runs.back().text;
    text.erase(text.find_last_not_of(' ') + 1);
    if (!text.empty()) return;
    runs.pop_back();
  }
}

// Whatever a report puts on a line, it never runs past the edge.
void fit(std::vector<Inked>& runs, std::size_t width) {
  for (Inked& run : runs) {
    run.text = elided(run.text, width);
    width -= display_width(run.text);
  }
}

}  // namespace

Page::Page(const TextStyle& style)
    : width_(std::max(style.width, kNarrowest)), colour_(style.colour), units_(style.units) {}

void Page::line(std::string_view text, Ink ink) {
  line(std::vector<Inked>{{std::string(text), ink}});
}

void Page::line(std::vector<Inked> runs) {
  if (gap_pending_ && !text_.empty()) text_ += '\n';
  gap_pending_ = false;
  cut_trailing_blanks(runs);
  fit(runs, width_);
  for (const Inked& run : runs)
    if (colour_) append_painted(text_, run);
    else text_ += run.text;
  text_ += '\n';
}

void Page::paragraph(std::string_view text, std::size_t indent, std::size_t hanging, Ink ink) {
  const std::size_t room = width_ - std::min(width_ - 1, indent + hanging);
  std::size_t column = indent;
  for (const std::string& part : wrapped(text, room, hanging)) {
    line(std::string(column, ' ') + part, ink);
    column = indent + hanging;
  }
}

void Page::gap() { gap_pending_ = true; }

void Page::heading(std::string_view title) {
  gap();
  line(title, Ink::Bold);
}

std::string Page::take() { return std::move(text_); }

}  // namespace tidemark
