// How many members a plain struct has, so that a list of them can be checked to be whole.
#pragma once

#include <cstddef>

namespace tidemark::python {

// Stands for a member's value, whatever its type.
struct AnyValue {
  template <class V>
  operator V() const;
};

// By trying how many values it can be made of, from one on: the last number that works.
template <class T, class... Values>
constexpr std::size_t field_count() {
  if constexpr (requires { T{Values{}..., AnyValue{}}; })
    return field_count<T, Values..., AnyValue>();
  else return sizeof...(Values);
}

}  // namespace tidemark::python
