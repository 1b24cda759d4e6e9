// Sums and products that stop at the ends of 63 bits instead of wrapping.
#pragma once

#include <cstdint>

namespace tidemark {

constexpr std::int64_t add_saturating(std::int64_t a, std::int64_t b) {
#if defined(__GNUC__)  // the processor tells by itself, in a replay six times an event
  std::int64_t sum = 0;
  if (!__builtin_add_overflow(a, b, &sum)) [[likely]]
    return sum;
#else
  if (b > 0 ? a <= INT64_MAX - b : a >= INT64_MIN - b) return a + b;
#endif
  return b > 0 ? INT64_MAX : INT64_MIN;
}

constexpr std::int64_t subtract_saturating(std::int64_t a, std::int64_t b) {
#if defined(__GNUC__)
  std::int64_t difference = 0;
  if (!__builtin_sub_overflow(a, b, &difference)) [[likely]]
    return difference;
#else
  if (b < 0 ? a <= INT64_MAX + b : a >= INT64_MIN + b) return a - b;
#endif
  return b < 0 ? INT64_MAX : INT64_MIN;
}

// Of counts and sizes, which are not negative.
constexpr std::int64_t multiply_saturating(std::int64_t a, std::int64_t b) {
  return b > 0 && a > INT64_MAX / b ? INT64_MAX : a * b;
}

}  // namespace tidemark
