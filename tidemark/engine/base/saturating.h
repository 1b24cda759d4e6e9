// Sums and products that stop at the ends of 63 bits instead of wrapping.
#pragma once

#include <cstdint>

namespace tidemark {

constexpr std::int64_t add_saturating(std::int64_t a, std::int64_t b) {
  if (b > 0 && a > INT64_MAX - b) return INT64_MAX;
  if (b < 0 && a < INT64_MIN - b) return INT64_MIN;
  return a + b;
}

constexpr std::int64_t subtract_saturating(std::int64_t a, std::int64_t b) {
  if (b < 0 && a > INT64_MAX + b) return INT64_MAX;
  if (b > 0 && a < INT64_MIN + b) return INT64_MIN;
  return a - b;
}

// Of counts and sizes, which are not negative.
constexpr std::int64_t multiply_saturating(std::int64_t a, std::int64_t b) {
  return b > 0 && a > INT64_MAX / b ? INT64_MAX : a * b;
}

}  // namespace tidemark
