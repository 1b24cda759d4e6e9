// Reads numbers, sizes, categories and phases, and complains with the column.
#include "tidemark/engine/tape/text_line.h"

#include "tidemark/engine/base/error.h"
#include "tidemark/engine/base/interner.h"
#include "tidemark/engine/base/units.h"

namespace tidemark {
namespace {

// Enough of a wrong word to know it again.
std::string shown(const std::string& word) { return "\"" + word.substr(0, 40) + "\""; }

}  // namespace

TextLine::TextLine(std::string_view line, std::string place) : place_(std::move(place)) {
  bool has_word = false;
  for (Token& token : tokenize(line, place_)) {
    const bool is_key = !token.key.empty();
    const bool is_time = !is_key && !token.quoted && token.value.starts_with('@');
    if (has_word) {
      (is_key ? keys_ : operands_).push_back(std::move(token));
    } else if (is_time && !time_ns_) {
      time_ns_ = integer<std::int64_t>(token.value.substr(1), token.column, "a time");
    } else {
      word_ = std::move(token);
      has_word = true;
    }
  }
  if (time_ns_ && !has_word) fail(1, "a time without an event", "write the event on the same line");
}

void TextLine::fail(std::size_t column, const std::string& message, const std::string& hint) const {
  throw Error(ErrorCode::BadFormat, message, place_ + ":" + std::to_string(column), hint);
}

const std::string& TextLine::text_or_empty(std::size_t operand) const {
  static const std::string kNothing;
  return operand < operands_.size() ? operands_[operand].value : kNothing;
}

void TextLine::check_name(const Token& token) const {
  if (token.value.size() > kMaxNameBytes)
    fail(token.column, "a name of " + std::to_string(token.value.size()) + " bytes is too long",
         "names may have at most " + std::to_string(kMaxNameBytes) + " bytes");
}

void TextLine::check_names() const {
  check_name(word_);
  for (const Token& token : operands_) check_name(token);
  for (const Token& token : keys_) check_name(token);
}

std::int64_t TextLine::bytes(const Token& token) const {
  const std::string& text = token.value;
  if (text.starts_with('-')) fail(token.column, "a size cannot be negative");
  if (auto bytes = parse_bytes(text)) return *bytes;
  const bool digits = !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
  fail(token.column, digits ? "a size past 63 bits" : "this is not a size",
       "write bytes (4096) or a unit without a blank (4KiB, 1.5MiB)");
}

Category TextLine::category(const Token& token) const {
  if (auto category = category_named(token.value)) return *category;
  fail(token.column, "unknown category " + shown(token.value),
       "as in Parameter, Gradient, Activation, OptimizerState");
}

Phase TextLine::phase(const Token& token) const {
  if (auto phase = phase_named(token.value)) return *phase;
  fail(token.column, "unknown phase " + shown(token.value),
       "one of forward, backward, recompute, optimizer, other");
}

}  // namespace tidemark
