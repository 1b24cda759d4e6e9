// Is it UTF-8, and how wide does it print?
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tidemark {

// The length of the longest prefix that is valid UTF-8.
std::size_t utf8_prefix(std::string_view text);
inline bool is_utf8(std::string_view text) { return utf8_prefix(text) == text.size(); }

// A byte of a character that is not its first.
inline bool is_continuation(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

// Terminal columns, taking each character as one wide.
std::size_t display_width(std::string_view text);

// Safe to print: control characters and invalid bytes become U+FFFD.
std::string printable(std::string_view text);

}  // namespace tidemark
