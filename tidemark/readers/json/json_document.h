// Walks through a document that is one long array, bare or as a member of an object.
#pragma once

#include <string_view>

#include "tidemark/readers/json/json_stream.h"

namespace tidemark {

// Texts are good during the call.
class JsonListener {
 public:
  virtual ~JsonListener() = default;
  // A value of the long array; the offset is of its first byte.
  virtual void element(std::string_view text, std::uint64_t offset) = 0;
  // Whether member() shall be told of this member of the object; others are passed over.
  virtual bool wants(std::string_view key) const = 0;
  virtual void member(std::string_view key, std::string_view value, std::uint64_t offset) = 0;
};

// `array` is the key of the long array; it must be there, once. Throws Error with the byte where
// the document is damaged; what came before it has been told by then.
void walk_document(JsonStream& stream, std::string_view array, JsonListener& listener);

}  // namespace tidemark
