// Tables of the bytes that end a run of plain ones.
#include "tidemark/readers/json/json_scan.h"

#include <array>

namespace tidemark {
namespace {

constexpr std::array<bool, 256> marked(const char* characters) {
  std::array<bool, 256> table{};
  for (const char* c = characters; *c; ++c) table[static_cast<unsigned char>(*c)] = true;
  return table;
}
constexpr std::array kEndsPlain = marked("\"{}[]");
constexpr std::array kEndsText = marked("\"\\");

template <class Table>
const char* skip_until(const Table& table, const char* from, const char* end) {
  while (from != end && !table[static_cast<unsigned char>(*from)]) ++from;
  return from;
}

}  // namespace

// To behind the closing quote, or to the end of the bytes.
const char* JsonScan::skip_string(const char* from, const char* end) {
  while (from != end) {
    if (is_escaped_) {
      is_escaped_ = false;
      ++from;
      continue;
    }
    from = skip_until(kEndsText, from, end);
    if (from == end) break;
    if (*from++ == '"') {
      in_string_ = false;
      break;
    }
    is_escaped_ = true;
  }
  return from;
}

JsonScan::Found JsonScan::scan(const char* from, const char* end) {
  while (from != end) {
    if (in_string_) {
      from = skip_string(from, end);
      if (!in_string_ && depth_ == 0) return {Stop::End, from};
      continue;
    }
    from = skip_until(kEndsPlain, from, end);
    if (from == end) break;
    const char c = *from;
    if (c == '"') {
      in_string_ = true;
    } else if (c == '{' || c == '[') {
      if (depth_ == kMostNested) return {Stop::TooDeep, from};
      is_object_ = is_object_ << 1 | static_cast<std::uint64_t>(c == '{');
      ++depth_;
    } else {
      if (depth_ == 0 || (is_object_ & 1) != static_cast<std::uint64_t>(c == '}'))
        return {Stop::WrongBracket, from};
      is_object_ >>= 1;
      if (--depth_ == 0) return {Stop::End, from + 1};
    }
    ++from;
  }
  return {Stop::OutOfBytes, from};
}

}  // namespace tidemark
