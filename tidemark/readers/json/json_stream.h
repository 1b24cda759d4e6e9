// A JSON document of any size, read value by value through a window that moves over it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tidemark/engine/base/byte_stream.h"
#include "tidemark/engine/base/error.h"

namespace tidemark {

class JsonStream {
 public:
  // Parsers may read this many bytes behind a value.
  static constexpr std::size_t kPadding = 64;
  // A value that has to be in memory as a whole may be as long as this.
  static constexpr std::size_t kMostBytes = 256 << 20;

  // `source` must outlive it.
  explicit JsonStream(ByteSource& source);
  JsonStream(ByteSource& source, std::size_t window_bytes);

  // The first byte that is no blank, which is not taken; 0 at the end.
  char peek();
  // Takes the next byte, which must be this one.
  void expect(char wanted);
  // Takes the next byte if it is this one.
  bool take(char wanted);
  // The text of the next value, good until the next call. Scalars are taken up to a comma, a
  // bracket or a blank.
  std::string_view value();
  // The same, forgotten as it is read: it may have any length.
  void skip_value();

  // Of the next byte, and of the value that was taken last.
  std::uint64_t offset() const { return passed_ + at_; }
  std::uint64_t value_offset() const { return value_offset_; }
  // An error at this byte of the document.
  static Error error(ErrorCode code, const std::string& message, std::uint64_t offset);

 private:
  enum class Keep : std::uint8_t { Value, Nothing };
  bool more(std::size_t keep_from);
  std::size_t end_of_value(Keep keep);
  std::size_t end_of_scalar();
  [[noreturn]] void end_too_early() const;

  ByteSource& source_;
  std::vector<char> window_;
  std::size_t size_ = 0;      // bytes in the window
  std::size_t at_ = 0;        // the next of them
  std::uint64_t passed_ = 0;  // bytes that have left the window
  std::uint64_t value_offset_ = 0;
};

}  // namespace tidemark
