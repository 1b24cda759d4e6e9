// Measures in terminal columns, never in bytes.
#include "tidemark/engine/reports/layout.h"

#include <array>
#include <charconv>

#include "tidemark/engine/base/utf8.h"

namespace tidemark {
namespace {

// The byte where the character number `count` begins.
std::size_t bytes_of_first(std::string_view text, std::size_t count) {
  std::size_t at = 0;
  for (; count > 0 && at < text.size(); --count) {
    ++at;
    while (at < text.size() && is_continuation(text[at])) ++at;
  }
  return at;
}

std::string_view last_characters(std::string_view text, std::size_t count) {
  std::size_t at = text.size();
  for (; count > 0 && at > 0; --count) {
    --at;
    while (at > 0 && is_continuation(text[at])) --at;
  }
  return text.substr(at);
}

std::string blanks_to(std::string_view text, std::size_t width) {
  const std::size_t used = display_width(text);
  return std::string(used < width ? width - used : 0, ' ');
}

// "layers.3.mlp … train.py:41"; empty where there is no middle word, or it does not fit.
std::string outer_words(std::string_view text, std::size_t width) {
  const std::size_t first_end = text.find(' ');
  const std::size_t last_begin = text.rfind(' ');
  if (first_end == 0 || first_end >= last_begin) return {};
  std::string words(text.substr(0, first_end));
  words.append(" …").append(text.substr(last_begin));
  return display_width(words) <= width ? words : std::string();
}

}  // namespace

std::string elided(std::string_view text, std::size_t width) {
  if (display_width(text) <= width) return std::string(text);
  if (width == 0) return {};
  if (std::string words = outer_words(text, width); !words.empty()) return words;
  const std::size_t tail = (width - 1) / 2;
  std::string result(text.substr(0, bytes_of_first(text, width - 1 - tail)));
  return result.append("…").append(last_characters(text, tail));
}

std::string left_aligned(std::string_view text, std::size_t width) {
  const std::string fitting = elided(text, width);
  return fitting + blanks_to(fitting, width);
}

std::string right_aligned(std::string_view text, std::size_t width) {
  const std::string fitting = elided(text, width);
  return blanks_to(fitting, width) + fitting;
}

std::string repeated(std::string_view piece, std::size_t count) {
  std::string result;
  for (; count > 0; --count) result += piece;
  return result;
}

std::vector<std::string> wrapped(std::string_view text, std::size_t width, std::size_t extra) {
  std::vector<std::string> lines;
  std::string line;
  std::size_t used = 0;
  while (!text.empty()) {
    const std::size_t blank = text.find(' ');
    const std::string_view word = text.substr(0, blank);
    text.remove_prefix(blank == std::string_view::npos ? text.size() : blank + 1);
    if (word.empty()) continue;
    const std::size_t needed = display_width(word);
    if (used > 0 && used + 1 + needed > width + (lines.empty() ? extra : 0)) {
      lines.push_back(std::move(line));
      line.clear();
      used = 0;
    }
    const std::string fitting = elided(word, width);
    line.append(used > 0 ? " " : "").append(fitting);
    used += (used > 0 ? 1 : 0) + display_width(fitting);
  }
  if (used > 0) lines.push_back(std::move(line));
  return lines;
}

std::string percent_of(std::int64_t part, std::int64_t whole) {
  if (whole <= 0) return "-";
  const double percent = 100.0 * static_cast<double>(part) / static_cast<double>(whole);
  if (percent > 0 && percent < 0.05) return "<0.1%";
  std::array<char, 32> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), percent,
                                 std::chars_format::fixed, 1);
  return std::string(digits.data(), end.ptr) + "%";
}

}  // namespace tidemark
