// Plain numbers and strings to bytes and back; the reader refuses to run past its end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "tidemark/engine/base/little_endian.h"

namespace tidemark {

class ByteWriter {
 public:
  template <class T>
  void number(T value) {
    value = swap_if_big_endian(value);
    const auto* from = reinterpret_cast<const std::byte*>(&value);
    bytes_.insert(bytes_.end(), from, from + sizeof(T));
  }
  void text(std::string_view value);  // length, then bytes
  std::span<const std::byte> bytes() const { return bytes_; }
  std::size_t size() const { return bytes_.size(); }

 private:
  std::vector<std::byte> bytes_;
};

// Throws Error(BadFormat) when asked for more than there is.
class ByteReader {
 public:
  explicit ByteReader(std::span<const std::byte> bytes) : rest_(bytes) {}

  template <class T>
  T number() {
    return load_little_endian<T>(take(sizeof(T)).data());
  }
  std::string_view text();
  // A count of things that need at least `bytes_each` bytes; more than the rest holds is an error.
  std::size_t count(std::size_t bytes_each);
  bool at_end() const { return rest_.empty(); }

 private:
  std::span<const std::byte> take(std::size_t size);

  std::span<const std::byte> rest_;
};

}  // namespace tidemark
