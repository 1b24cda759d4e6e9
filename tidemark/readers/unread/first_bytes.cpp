// Plain searches in a few kilobytes.
#include "tidemark/readers/unread/first_bytes.h"

#include <string>

namespace tidemark {

bool is_pickle(std::string_view bytes) {
  return bytes.size() > 2 && bytes[0] == '\x80' && bytes[1] >= 2 && bytes[1] <= 5;
}

// Strings stand behind their length: in one byte after \x8c, in four after X.
bool has_pickled(std::string_view bytes, std::string_view text) {
  const char length = static_cast<char>(text.size());
  const std::string is_short = std::string("\x8c") + length + std::string(text);
  const std::string is_long = std::string("X") + length + std::string(3, '\0') + std::string(text);
  return bytes.find(is_short) != std::string_view::npos ||
         bytes.find(is_long) != std::string_view::npos;
}

bool is_gzip(std::string_view bytes) { return bytes.starts_with("\x1f\x8b"); }

char first_character(std::string_view text) {
  const std::size_t at = text.find_first_not_of(" \t\r\n");
  return at == std::string_view::npos ? '\0' : text[at];
}

bool has_key(std::string_view json, std::string_view key) {
  return json.find('"' + std::string(key) + '"') != std::string_view::npos;
}

}  // namespace tidemark
