// A size that depends on named dimensions, such as 4*batch*(length + 1).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "tidemark/engine/graph/dimensions.h"

namespace tidemark {

enum class SizeWord : std::uint8_t {
  Number,
  Dimension,
  Add,
  Subtract,
  Multiply,
  FloorDivide,
  CeilDivide,
  Modulo,
  Power,
  Minimum,
  Maximum,
};

struct SizeStep {
  SizeWord word = SizeWord::Number;
  std::int64_t value = 0;  // the number, or that of the dimension
  bool operator==(const SizeStep&) const = default;
};

// Operands before their operator, so that evaluation is one pass over a stack.
struct SizeExpression {
  std::vector<SizeStep> steps;
  bool operator==(const SizeExpression&) const = default;
};

// Reads "8*s0*(s1 + 2) - s0//4", and the function forms that PyTorch's symbols are printed in:
// FloorDiv(a, b), CeilDiv, Mod, Max, Min, Pow, and Mul, Add, Integer(3), Symbol('s0', ...).
// Names not yet in `dimensions` are added there. Throws Error(BadFormat) for anything else.
SizeExpression parse_size(std::string_view text, Dimensions& dimensions);

// The value for these dimensions, by number. Throws Error(BadArgument) where it has none: a
// division by zero, a result past 63 bits.
std::int64_t evaluate(const SizeExpression& size, std::span<const std::int64_t> dimensions);
// The value at the hints, in time proportional to the steps; none where a hint is missing.
std::optional<std::int64_t> evaluate_at_hints(const SizeExpression& size,
                                              const Dimensions& dimensions);

}  // namespace tidemark
