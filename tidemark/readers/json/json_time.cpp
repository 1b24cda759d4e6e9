// Digits before and behind the point; numbers with an exponent go through a double.
#include "tidemark/readers/json/json_time.h"

#include <charconv>
#include <cmath>

namespace tidemark {
namespace {

// A quarter of what 63 bits hold, so that times can be added and subtracted.
constexpr std::int64_t kMostMicroseconds = INT64_MAX / 4000;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::optional<std::int64_t> from_double(std::string_view text) {
  double value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem != std::errc() || end != text.data() + text.size()) return std::nullopt;
  if (!(std::abs(value) < static_cast<double>(kMostMicroseconds))) return std::nullopt;
  return static_cast<std::int64_t>(std::llround(value * 1000));
}

}  // namespace

std::optional<std::int64_t> nanoseconds_of(std::string_view microseconds) {
  const char* at = microseconds.data();
  const char* const end = at + microseconds.size();
  const bool is_negative = at != end && *at == '-';
  if (is_negative) ++at;
  if (at == end || !is_digit(*at)) return std::nullopt;
  std::int64_t whole = 0;
  for (; at != end && is_digit(*at); ++at) {
    if (whole > kMostMicroseconds / 10 - 1) return std::nullopt;
    whole = whole * 10 + (*at - '0');
  }
  std::int64_t thousandths = 0, unit = 100;
  if (at != end && *at == '.')
    for (++at; at != end && is_digit(*at); ++at, unit /= 10) thousandths += (*at - '0') * unit;
  if (at != end) return *at == 'e' || *at == 'E' ? from_double(microseconds) : std::nullopt;
  const std::int64_t time = whole * 1000 + thousandths;
  return is_negative ? -time : time;
}

}  // namespace tidemark
