// Numbers as the file has them: little-endian, whatever the processor.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstring>
#include <span>
#include <type_traits>

namespace tidemark {

template <class T>
T swap_if_big_endian(T value) {
  static_assert(std::is_integral_v<T>);
  if constexpr (std::endian::native == std::endian::big && sizeof(T) > 1) {
    auto* bytes = reinterpret_cast<std::byte*>(&value);
    std::reverse(bytes, bytes + sizeof(T));
  }
  return value;
}

template <class T>
T load_little_endian(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof(T));
  return swap_if_big_endian(value);
}

// Turns a column of file numbers into numbers of this processor, in place (and back).
template <class T>
void swap_if_big_endian(std::span<T> values) {
  if constexpr (std::endian::native == std::endian::big && sizeof(T) > 1)
    for (T& value : values) value = swap_if_big_endian(value);
}

}  // namespace tidemark
