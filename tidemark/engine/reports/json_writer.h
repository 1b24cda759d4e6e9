// Writes JSON piece by piece: escaped, exact, indented by two.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tidemark {

// Broad: each member on its own line. Flat: all on one line, and so is everything inside.
enum class JsonShape : std::uint8_t { Broad, Flat };

class JsonWriter {
 public:
  void begin_object(JsonShape shape = JsonShape::Broad) { begin('{', shape); }
  void end_object() { end('}'); }
  void begin_array(JsonShape shape = JsonShape::Broad) { begin('[', shape); }
  void end_array() { end(']'); }

  // In an object, before each value. Bytes that are not UTF-8 become U+FFFD, here and in texts.
  void key(std::string_view name);
  void number(std::int64_t value);
  void real(double value);  // null where it is no number
  void text(std::string_view value);
  void boolean(bool value);
  void boolean_if_known(std::optional<bool> value);  // else null
  void null();

  void member(std::string_view name, std::int64_t value) { key(name), number(value); }
  void member(std::string_view name, std::string_view value) { key(name), text(value); }
  // Null where the text is empty, or the number negative: not known.
  void member_if_known(std::string_view name, std::string_view value);
  void member_if_known(std::string_view name, std::int64_t value);

  // All that was written, with a newline at the end.
  std::string take();

 private:
  struct Level {
    JsonShape shape;
    bool is_empty = true;
  };

  void begin(char bracket, JsonShape shape);
  void end(char bracket);
  void begin_value();
  void begin_item();
  void break_line();
  void append_quoted(std::string_view text);

  std::string out_;
  std::vector<Level> levels_;
  bool after_key_ = false;
};

}  // namespace tidemark
