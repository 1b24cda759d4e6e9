// Evaluates sizes on a small stack, with every overflow caught.
#include "tidemark/engine/graph/size_expression.h"

#include <algorithm>

#include "tidemark/engine/base/error.h"

namespace tidemark {
namespace {

[[noreturn]] void refuse_size(const char* why) {
  throw Error(ErrorCode::BadArgument, std::string("a size of the graph has no value: ") + why);
}

std::int64_t checked(bool has_overflowed, std::int64_t value) {
  if (has_overflowed) refuse_size("it is past 63 bits");
  return value;
}

std::int64_t add(std::int64_t a, std::int64_t b) {
  return checked(
      b > 0 ? a > INT64_MAX - b : a < INT64_MIN - b,
      static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b)));
}

std::int64_t subtract(std::int64_t a, std::int64_t b) {
  return checked(
      b < 0 ? a > INT64_MAX + b : a < INT64_MIN + b,
      static_cast<std::int64_t>(static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b)));
}

std::int64_t multiply(std::int64_t a, std::int64_t b) {
  if (a == 0 || b == 0) return 0;
  const auto product =
      static_cast<std::int64_t>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
  const bool is_edge = (a == -1 && b == INT64_MIN) || (b == -1 && a == INT64_MIN);
  return checked(is_edge || product / b != a, product);
}

// Rounds down, as Python does.
std::int64_t floor_divide(std::int64_t a, std::int64_t b) {
  if (b == 0) refuse_size("it divides by zero");
  if (a == INT64_MIN && b == -1) return checked(true, 0);
  return a / b - ((a % b != 0 && (a < 0) != (b < 0)) ? 1 : 0);
}

std::int64_t ceil_divide(std::int64_t a, std::int64_t b) {
  const std::int64_t down = floor_divide(a, b);
  return b != -1 && a % b != 0 ? add(down, 1) : down;
}

std::int64_t modulo(std::int64_t a, std::int64_t b) {
  if (b == 0) refuse_size("it divides by zero");
  if (b == -1) return 0;
  const std::int64_t rest = a % b;
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

std::int64_t power(std::int64_t base, std::int64_t exponent) {
  if (exponent < 0) refuse_size("a power has a negative exponent");
  if (base == 0 || base == 1) return exponent == 0 ? 1 : base;
  if (base == -1) return exponent % 2 ? -1 : 1;
  std::int64_t result = 1;
  for (; exponent > 0; --exponent) result = multiply(result, base);
  return result;
}

std::int64_t apply(SizeWord word, std::int64_t a, std::int64_t b) {
  switch (word) {
    case SizeWord::Add: return add(a, b);
    case SizeWord::Subtract: return subtract(a, b);
    case SizeWord::Multiply: return multiply(a, b);
    case SizeWord::FloorDivide: return floor_divide(a, b);
    case SizeWord::CeilDivide: return ceil_divide(a, b);
    case SizeWord::Modulo: return modulo(a, b);
    case SizeWord::Power: return power(a, b);
    case SizeWord::Minimum: return std::min(a, b);
    default: return std::max(a, b);
  }
}

template <class ValueOf>
std::int64_t evaluate_with(const SizeExpression& size, ValueOf value_of) {
  std::vector<std::int64_t> stack;
  for (const SizeStep& step : size.steps) {
    if (step.word == SizeWord::Number) {
      stack.push_back(step.value);
    } else if (step.word == SizeWord::Dimension) {
      stack.push_back(value_of(static_cast<std::size_t>(step.value)));
    } else {
      const std::int64_t right = stack.back();
      stack.pop_back();
      stack.back() = apply(step.word, stack.back(), right);
    }
  }
  return stack.empty() ? 0 : stack.back();
}

}  // namespace

std::int64_t evaluate(const SizeExpression& size, std::span<const std::int64_t> dimensions) {
  return evaluate_with(size, [&](std::size_t number) { return dimensions[number]; });
}

std::optional<std::int64_t> evaluate_at_hints(const SizeExpression& size,
                                              const Dimensions& dimensions) {
  for (const SizeStep& step : size.steps)
    if (step.word == SizeWord::Dimension && !dimensions[static_cast<std::size_t>(step.value)].hint)
      return std::nullopt;
  return evaluate_with(size, [&](std::size_t number) { return *dimensions[number].hint; });
}

}  // namespace tidemark
