// Fitting words into columns: eliding, padding, wrapping.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tidemark {

// The text, or its two ends around "…" when it is wider than `width`: whole words where the first
// and the last fit, else characters. Expects printable text.
std::string elided(std::string_view text, std::size_t width);

// Elided where too long, filled with blanks where too short.
std::string left_aligned(std::string_view text, std::size_t width);
std::string right_aligned(std::string_view text, std::size_t width);

std::string repeated(std::string_view piece, std::size_t count);

// Lines of whole words; the first may be `extra` columns wider. A word wider than its line is
// elided.
std::vector<std::string> wrapped(std::string_view text, std::size_t width, std::size_t extra = 0);

// "49.9%"; "<0.1%" for what would round to nothing.
std::string percent_of(std::int64_t part, std::int64_t whole);

}  // namespace tidemark
