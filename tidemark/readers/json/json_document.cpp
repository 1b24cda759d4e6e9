// Brackets, commas and keys of the outermost two levels.
#include "tidemark/readers/json/json_document.h"

namespace tidemark {
namespace {

void walk_array(JsonStream& stream, JsonListener& listener) {
  stream.expect('[');
  if (stream.take(']')) return;
  do {
    const std::string_view text = stream.value();
    listener.element(text, stream.value_offset());
  } while (stream.take(','));
  stream.expect(']');
}

std::string key_of(JsonStream& stream) {
  if (stream.peek() != '"') stream.expect('"');
  const std::string_view quoted = stream.value();
  std::string key(quoted.substr(1, quoted.size() - 2));
  stream.expect(':');
  return key;
}

void walk_object(JsonStream& stream, std::string_view array, JsonListener& listener) {
  bool has_array = false;
  stream.expect('{');
  if (!stream.take('}')) {
    do {
      const std::string key = key_of(stream);
      if (key == array && has_array)
        throw JsonStream::error(ErrorCode::BadFormat, "a second list of this name: " + key,
                                stream.offset());
      if (key == array) {
        has_array = true;
        walk_array(stream, listener);
      } else if (listener.wants(key)) {
        const std::string_view value = stream.value();
        listener.member(key, value, stream.value_offset());
      } else {
        stream.skip_value();
      }
    } while (stream.take(','));
    stream.expect('}');
  }
  if (!has_array)
    throw JsonStream::error(ErrorCode::BadFormat, "there is no list " + std::string(array),
                            stream.offset());
}

}  // namespace

void walk_document(JsonStream& stream, std::string_view array, JsonListener& listener) {
  if (stream.peek() == '[') walk_array(stream, listener);
  else walk_object(stream, array, listener);
  if (stream.peek() != '\0' || stream.take('\0'))
    throw JsonStream::error(ErrorCode::BadFormat, "something follows the end of the document",
                            stream.offset());
}

}  // namespace tidemark
