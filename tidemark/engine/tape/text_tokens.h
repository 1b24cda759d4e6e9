// Cuts a line of tape text into words, knowing each word's column.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace tidemark {

// A word, or key=value when key is not empty. Quotes and escapes are already undone.
struct Token {
  std::string key, value;
  std::size_t column = 1;
  bool quoted = false;  // the value was in quotes
};

// A bare - means "none"; "-" in quotes is a name.
inline bool is_dash(const Token& token) { return token.value == "-" && !token.quoted; }

// `place` is where the line is, for messages ("run.tape.txt:3"). Throws Error with the column.
std::vector<Token> tokenize(std::string_view line, const std::string& place);

// The word as it must be written so that tokenize gives it back.
std::string in_quotes(std::string_view word);

// Throws Error when the text has NUL bytes or is not UTF-8.
void expect_utf8(std::string_view text, const std::string& name);

}  // namespace tidemark
