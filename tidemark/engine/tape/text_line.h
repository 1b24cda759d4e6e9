// One line of tape text: its word, operands and keys, and what they can be read as.
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tidemark/engine/base/category.h"
#include "tidemark/engine/tape/text_tokens.h"

namespace tidemark {

// Whatever cannot be read throws Error(BadFormat) with line and column.
class TextLine {
 public:
  TextLine() = default;
  // `place` is where the line is: "run.txt:3".
  TextLine(std::string_view line, std::string place);

  bool empty() const { return word_.value.empty() && word_.key.empty() && !word_.quoted; }
  std::optional<std::int64_t> time_ns() const { return time_ns_; }
  const Token& word() const { return word_; }
  const std::vector<Token>& operands() const { return operands_; }
  const std::vector<Token>& keys() const { return keys_; }
  // Of an operand, or nothing where there are fewer.
  const std::string& text_or_empty(std::size_t operand) const;

  template <class T>
  T integer(const Token& token, const char* what) const {
    return integer<T>(token.value, token.column, what);
  }
  template <class T>
  T integer(std::string_view text, std::size_t column, const char* what) const {
    T value{};
    auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (problem != std::errc{} || end != text.data() + text.size())
      fail(column, std::string(what) + " must be a whole number in range");
    return value;
  }
  std::int64_t bytes(const Token& token) const;
  Category category(const Token& token) const;
  Phase phase(const Token& token) const;

  void check_names() const;
  [[noreturn]] void fail(std::size_t column, const std::string& message,
                         const std::string& hint = {}) const;

 private:
  void check_name(const Token& token) const;

  std::string place_;
  std::optional<std::int64_t> time_ns_;
  Token word_;
  std::vector<Token> operands_, keys_;
};

}  // namespace tidemark
