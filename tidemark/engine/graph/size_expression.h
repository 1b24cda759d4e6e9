// A size that depends on named dimensions, such as 4*batch*(length + 1).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tidemark {

// One unknown of a graph, with what is known of it.
struct Dimension {
  std::string name;
  std::optional<std::int64_t> hint;  // the value it had when the graph was captured
  std::optional<std::int64_t> lower, upper;
};

enum class SizeWord : std::uint8_t {
  Number, Dimension, Add, Subtract, Multiply, FloorDivide, CeilDivide, Modulo, Power, Minimum,
  Maximum,
};

struct SizeStep {
  SizeWord word = SizeWord::Number;
  std::int64_t value = 0;  // the number, or the dimension's index
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
SizeExpression parse_size(std::string_view text, std::vector<Dimension>& dimensions);

// The value for these dimensions, by index. Throws Error(BadArgument) where it has none: a
// division by zero, a result past 63 bits.
std::int64_t evaluate(const SizeExpression& size, std::span<const std::int64_t> dimensions);

}  // namespace tidemark
