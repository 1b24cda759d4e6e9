// What operators take and write, argument by argument, as far as it tells overloads apart.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace tidemark::operators {

enum class ArgumentType : std::uint8_t {
  Any,
  Tensor,
  TensorList,
  None,
  Bool,
  Int,
  Float,
  Complex,
  Number,
  Other,  // what profilers do not record: strings, devices, lists of numbers
};

struct Argument {
  ArgumentType type = ArgumentType::Other;
  bool optional = false;
  bool written = false;
  bool operator==(const Argument&) const = default;
};

// An overload: its arguments, those with defaults too.
using Schema = std::vector<Argument>;

// A schema as the table has it, one letter an argument, '?' before one that may be left out and '!'
// before one that is written: "!TTn". What cannot be read has no value.
Schema schema_of_letters(std::string_view letters);

// The overloads of an operator of torch by its name without overload: "aten::add". None: not known.
std::vector<Schema> find_schemas(std::string_view name);

}  // namespace tidemark::operators
