// Commas, line breaks and escapes.
#include "tidemark/engine/reports/json_writer.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "tidemark/engine/base/utf8.h"

namespace tidemark {
namespace {

constexpr std::string_view kReplacement = "\xef\xbf\xbd";  // U+FFFD

void append_escaped(std::string& out, char c) {
  constexpr std::string_view kHex = "0123456789abcdef";
  switch (c) {
    case '"': out += "\\\""; return;
    case '\\': out += "\\\\"; return;
    case '\n': out += "\\n"; return;
    case '\r': out += "\\r"; return;
    case '\t': out += "\\t"; return;
    default: break;
  }
  const auto byte = static_cast<unsigned char>(c);
  if (byte >= 0x20 && byte != 0x7f) out += c;
  else (out += "\\u00") += {kHex[byte >> 4], kHex[byte & 15]};
}

}  // namespace

void JsonWriter::key(std::string_view name) {
  begin_item();
  append_quoted(name);
  out_ += ": ";
  after_key_ = true;
}

void JsonWriter::number(std::int64_t value) {
  begin_value();
  out_ += std::to_string(value);
}

void JsonWriter::real(double value) {
  if (!std::isfinite(value)) return null();
  begin_value();
  std::array<char, 32> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value);
  out_.append(digits.data(), end.ptr);
}

void JsonWriter::text(std::string_view value) {
  begin_value();
  append_quoted(value);
}

void JsonWriter::boolean(bool value) {
  begin_value();
  out_ += value ? "true" : "false";
}

void JsonWriter::null() {
  begin_value();
  out_ += "null";
}

void JsonWriter::member_if_known(std::string_view name, std::string_view value) {
  key(name);
  value.empty() ? null() : text(value);
}

void JsonWriter::member_if_known(std::string_view name, std::int64_t value) {
  key(name);
  value < 0 ? null() : number(value);
}

void JsonWriter::boolean_if_known(std::optional<bool> value) { value ? boolean(*value) : null(); }

std::string JsonWriter::take() { return std::move(out_ += '\n'); }

void JsonWriter::begin(char bracket, JsonShape shape) {
  begin_value();
  out_ += bracket;
  const bool in_flat = !levels_.empty() && levels_.back().shape == JsonShape::Flat;
  levels_.push_back({in_flat ? JsonShape::Flat : shape});
}

void JsonWriter::end(char bracket) {
  const Level level = levels_.back();
  levels_.pop_back();
  if (!level.is_empty && level.shape == JsonShape::Broad) break_line();
  out_ += bracket;
}

// A value after a key stands on the key's line; any other is an item of its own.
void JsonWriter::begin_value() {
  if (!after_key_ && !levels_.empty()) begin_item();
  after_key_ = false;
}

void JsonWriter::begin_item() {
  Level& level = levels_.back();
  if (!level.is_empty) out_ += level.shape == JsonShape::Flat ? ", " : ",";
  level.is_empty = false;
  if (level.shape == JsonShape::Broad) break_line();
}

void JsonWriter::break_line() { out_.append("\n").append(2 * levels_.size(), ' '); }

void JsonWriter::append_quoted(std::string_view text) {
  out_ += '"';
  while (!text.empty()) {
    const std::size_t valid = utf8_prefix(text);
    for (char c : text.substr(0, valid)) append_escaped(out_, c);
    if (valid < text.size()) out_ += kReplacement;
    text.remove_prefix(std::min(valid + 1, text.size()));
  }
  out_ += '"';
}

}  // namespace tidemark
