// Finds where a JSON value ends, by its brackets and quotes alone; goes on where bytes ran out.
//
// What stands between brackets is checked by whoever reads it. The kinds of open brackets are the
// bits of a word, so nesting has a limit.
#pragma once

#include <cstdint>

#include "tidemark/readers/json/byte_masks.h"

namespace tidemark {

class JsonScan {
 public:
  static constexpr int kMostNested = 64;
  enum class Stop : std::uint8_t {
    OutOfBytes,   // scan on with the bytes that follow
    End,          // the value ends before `at`
    TooDeep,      // a bracket at `at` is one too many
    WrongBracket  // a bracket at `at` closes what was opened by another
  };
  struct Found {
    Stop stop;
    const char* at;
  };

  // From the value's first byte at the first call, which is a bracket or a quote; afterwards from
  // where the last call stopped.
  Found scan(const char* from, const char* end);

 private:
  Found scan_block(const char* from, int size, const ByteMasks& masks);
  std::uint64_t escaped_by(std::uint64_t backslashes, int size);
  Stop see_bracket(char bracket);

  std::uint64_t is_object_ = 0;  // the innermost open bracket is the lowest bit
  int depth_ = 0;
  bool in_string_ = false, is_escaped_ = false;  // the next byte is
};

}  // namespace tidemark
