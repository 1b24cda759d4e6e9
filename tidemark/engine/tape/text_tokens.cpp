// The tokenizer of the text form, and its inverse.
#include "tidemark/engine/tape/text_tokens.h"

#include <algorithm>

#include "tidemark/engine/base/error.h"
#include "tidemark/engine/base/utf8.h"

namespace tidemark {
namespace {

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

class Cutter {
 public:
  Cutter(std::string_view line, const std::string& place) : line_(line), place_(place) {}

  std::vector<Token> cut() {
    std::vector<Token> tokens;
    for (skip_blanks(); !at_end() && peek() != '#'; skip_blanks()) tokens.push_back(next_token());
    return tokens;
  }

 private:
  bool at_end() const { return at_ == line_.size(); }
  char peek() const { return line_[at_]; }
  void skip_blanks() {
    while (!at_end() && is_blank(peek())) ++at_;
  }
  [[noreturn]] void fail(const std::string& message, const std::string& hint) const {
    throw Error(ErrorCode::BadFormat, message, place_ + ":" + std::to_string(at_ + 1), hint);
  }

  Token next_token() {
    Token token;
    token.column = at_ + 1;
    take_value(token, true);
    if (!token.quoted && !at_end() && peek() == '=') {
      if (token.value.empty()) fail("= without a key before it", "quote a word that has = in it");
      ++at_;
      token.key = std::move(token.value);
      take_value(token, false);
    }
    if (!at_end() && !is_blank(peek())) fail("a word runs into a quote", "put a blank between");
    return token;
  }

  void take_value(Token& token, bool stop_at_equals) {
    token.quoted = !at_end() && peek() == '"';
    token.value = token.quoted ? quoted_text() : plain_text(stop_at_equals);
  }

  std::string plain_text(bool stop_at_equals) {
    const std::size_t first = at_;
    while (!at_end() && !is_blank(peek()) && peek() != '"' && !(stop_at_equals && peek() == '='))
      ++at_;
    return std::string(line_.substr(first, at_ - first));
  }

  std::string quoted_text() {
    std::string text;
    for (++at_;; ++at_) {
      if (at_end()) fail("a quoted word has no closing quote", "end it with \"");
      if (peek() == '"') break;
      text += peek() == '\\' ? escaped() : peek();
    }
    ++at_;
    return text;
  }

  // Leaves at_ on the escape's last character.
  char escaped() {
    if (++at_ == line_.size()) fail("a quoted word has no closing quote", "end it with \"");
    switch (peek()) {
      case 'n': return '\n';
      case 't': return '\t';
      case '"':
      case '\\': return peek();
      case 'x': return hex_byte();
      default: fail("an unknown escape", R"(known are \n \t \" \\ and \x with two digits)");
    }
  }

  char hex_byte() {
    const int high = at_ + 2 < line_.size() ? hex_digit(line_[at_ + 1]) : -1;
    const int low = high < 0 ? -1 : hex_digit(line_[at_ + 2]);
    if (low < 0) fail(R"(\x needs two digits)", R"(as in \x1f)");
    at_ += 2;
    return static_cast<char>(high * 16 + low);
  }

  std::string_view line_;
  const std::string& place_;
  std::size_t at_ = 0;
};

bool is_plain(std::string_view word) {
  return !word.empty() && word.front() != '#' && word.front() != '@' && is_utf8(word) &&
         std::none_of(word.begin(), word.end(), [](char c) {
           return static_cast<unsigned char>(c) <= ' ' || c == '"' || c == '\\' || c == '=' ||
                  c == 0x7f;
         });
}

void append_escaped(std::string& text, char c, bool keep_high) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  const auto byte = static_cast<unsigned char>(c);
  if (c == '\n') {
    text += "\\n";
  } else if (c == '"' || c == '\\') {
    text += '\\';
    text += c;
  } else if (byte < ' ' || byte == 0x7f || (byte > 0x7f && !keep_high)) {
    text += "\\x";
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  } else {
    text += c;
  }
}

}  // namespace

std::vector<Token> tokenize(std::string_view line, const std::string& place) {
  return Cutter(line, place).cut();
}

std::string in_quotes(std::string_view word) {
  if (is_plain(word)) return std::string(word);
  const bool keep_high = is_utf8(word);
  std::string text = "\"";
  for (char c : word) append_escaped(text, c, keep_high);
  return text + "\"";
}

void expect_utf8(std::string_view text, const std::string& name) {
  const std::size_t nul = text.find('\0');
  const std::size_t bad = std::min(nul, utf8_prefix(text));
  if (bad >= text.size()) return;
  const auto line = 1 + std::count(text.begin(), text.begin() + bad, '\n');
  const std::size_t line_begin = text.rfind('\n', bad) + 1;  // npos + 1 is 0
  throw Error(ErrorCode::BadFormat,
              bad == nul ? "a NUL byte: this is not text" : "this is not UTF-8 text",
              name + ":" + std::to_string(line) + ":" +
                  std::to_string(bad - (bad == 0 ? 0 : line_begin) + 1),
              "a tape is UTF-8 text, or a binary file that begins as one");
}

}  // namespace tidemark
