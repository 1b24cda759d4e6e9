// Parses and prints byte counts, counts and durations, whatever the locale.
#include "tidemark/engine/base/units.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>

namespace tidemark {
namespace {

constexpr std::array<std::string_view, 5> kUnitNames = {"B", "KiB", "MiB", "GiB", "TiB"};

double size_of_unit(std::size_t index) { return std::ldexp(1.0, static_cast<int>(10 * index)); }

std::size_t unit_for(double magnitude) {
  std::size_t index = 0;
  while (index + 1 < kUnitNames.size() && magnitude >= size_of_unit(index + 1)) ++index;
  return index;
}

std::string fixed2(double value) {
  std::array<char, 64> text{};
  auto end =
      std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed, 2);
  return {text.data(), end.ptr};
}

}  // namespace

std::optional<Units> units_named(std::string_view name) {
  if (name == "auto") return Units::Auto;
  for (std::size_t i = 0; i < kUnitNames.size(); ++i)
    if (name == kUnitNames[i]) return static_cast<Units>(i + 1);
  return std::nullopt;
}

std::optional<std::int64_t> parse_bytes(std::string_view text) {
  const std::size_t digits = text.find_first_not_of("0123456789.");
  const std::string_view number = text.substr(0, digits);
  const auto units = digits == std::string_view::npos ? Units::B : units_named(text.substr(digits));
  if (number.empty() || !units || *units == Units::Auto) return std::nullopt;
  const char* last = number.data() + number.size();
  const auto scale = static_cast<std::size_t>(*units) - 1;

  if (number.find('.') == std::string_view::npos) {
    std::int64_t whole = 0;
    auto [end, problem] = std::from_chars(number.data(), last, whole);
    if (problem != std::errc{} || end != last) return std::nullopt;
    if (whole > (INT64_MAX >> (10 * scale))) return std::nullopt;
    return whole << (10 * scale);
  }
  double value = 0;
  auto [end, problem] = std::from_chars(number.data(), last, value);
  if (problem != std::errc{} || end != last) return std::nullopt;
  value = std::round(value * size_of_unit(scale));
  if (!(value < 9.2e18)) return std::nullopt;
  return static_cast<std::int64_t>(value);
}

std::string format_bytes(std::int64_t bytes, Units units) {
  const double value = static_cast<double>(bytes);
  const std::size_t index =
      units == Units::Auto ? unit_for(std::fabs(value)) : static_cast<std::size_t>(units) - 1;
  std::string text = index == 0 ? std::to_string(bytes) : fixed2(value / size_of_unit(index));
  return text.append(" ").append(kUnitNames[index]);
}

std::string format_change(std::int64_t bytes, Units units) {
  return (bytes > 0 ? "+" : "") + format_bytes(bytes, units);
}

std::string format_count(std::int64_t count) {
  std::string text = std::to_string(count);
  const std::size_t first = count < 0 ? 1 : 0;
  for (std::size_t at = text.size(); at > first + 3;) text.insert(at -= 3, " ");
  return text;
}

std::string format_duration(std::int64_t time_ns) {
  const double value = static_cast<double>(time_ns);
  if (time_ns < 1'000) return std::to_string(time_ns) + " ns";
  if (time_ns < 1'000'000) return fixed2(value / 1e3) + " µs";
  if (time_ns < 1'000'000'000) return fixed2(value / 1e6) + " ms";
  return fixed2(value / 1e9) + " s";
}

}  // namespace tidemark
