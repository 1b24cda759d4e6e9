// Takes 64 bytes at once: which of them are inside of strings follows from the quotes' bits alone.
//
//   text       { " a " : [ " ] " ] }
//   quotes       1   1     1   1        those that no backslash escapes
//   inside       1 1       1 1          a bit is on behind an odd number of quotes
//   brackets   1         1       1 1    outside of strings: only these are looked at one by one
#include "tidemark/readers/json/json_scan.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstring>

namespace tidemark {
namespace {

// Each bit becomes the parity of itself and all that are lower.
std::uint64_t parities(std::uint64_t bits) {
  for (int distance = 1; distance < 64; distance *= 2) bits ^= bits << distance;
  return bits;
}

}  // namespace

// The bytes that a backslash before them escapes. Backslashes are rare: one after the other.
inline std::uint64_t JsonScan::escaped_by(std::uint64_t backslashes, int size) {
  std::uint64_t escaped = is_escaped_ ? 1 : 0;
  is_escaped_ = false;
  for (backslashes &= ~escaped; backslashes != 0;) {
    const int at = std::countr_zero(backslashes);
    if (at == size - 1) {
      is_escaped_ = true;
      break;
    }
    escaped |= std::uint64_t{2} << at;
    backslashes &= ~(std::uint64_t{3} << at);
  }
  return escaped;
}

inline JsonScan::Stop JsonScan::see_bracket(char bracket) {
  const std::uint64_t is_brace = (bracket & kBraceBit) ? 1 : 0;
  if ((bracket | kBraceBit) == '{') {
    if (depth_ == kMostNested) return Stop::TooDeep;
    is_object_ = is_object_ << 1 | is_brace;
    ++depth_;
    return Stop::OutOfBytes;
  }
  if (depth_ == 0 || (is_object_ & 1) != is_brace) return Stop::WrongBracket;
  is_object_ >>= 1;
  return --depth_ == 0 ? Stop::End : Stop::OutOfBytes;
}

inline JsonScan::Found JsonScan::scan_block(const char* from, int size, const ByteMasks& masks) {
  const std::uint64_t quotes = masks.quotes & ~escaped_by(masks.backslashes, size);
  const std::uint64_t inside = parities(quotes) ^ (in_string_ ? ~std::uint64_t{0} : 0);
  // A string that is the value itself ends with the first quote behind which no string is.
  if (depth_ == 0 && (in_string_ || (quotes & 1))) {
    const std::uint64_t closing = quotes & ~inside;
    if (closing != 0) return {Stop::End, from + std::countr_zero(closing) + 1};
  }
  in_string_ = inside >> 63;
  for (std::uint64_t left = (masks.opens | masks.closes) & ~inside; left != 0; left &= left - 1) {
    const char* const at = from + std::countr_zero(left);
    const Stop stop = see_bracket(*at);
    if (stop != Stop::OutOfBytes) return {stop, at + (stop == Stop::End ? 1 : 0)};
  }
  return {Stop::OutOfBytes, from + size};
}

JsonScan::Found JsonScan::scan(const char* from, const char* end) {
  char last[ByteMasks::kBytes];
  Found found{Stop::OutOfBytes, from};
  while (found.stop == Stop::OutOfBytes && found.at != end) {
    const auto size = static_cast<int>(std::min<std::ptrdiff_t>(end - found.at, ByteMasks::kBytes));
    const char* block = found.at;
    if (size < ByteMasks::kBytes) {
      std::memset(last, 0, sizeof last);
      block = static_cast<const char*>(std::memcpy(last, block, static_cast<std::size_t>(size)));
    }
    found = scan_block(found.at, size, masks_of(block));
  }
  return found;
}

}  // namespace tidemark
