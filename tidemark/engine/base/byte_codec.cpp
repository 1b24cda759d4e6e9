// Checked reading and plain writing of small records.
#include "tidemark/engine/base/byte_codec.h"

#include "tidemark/engine/base/error.h"

namespace tidemark {

void ByteWriter::text(std::string_view value) {
  number(static_cast<std::uint32_t>(value.size()));
  const auto bytes = std::as_bytes(std::span(value));
  bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
}

std::span<const std::byte> ByteReader::take(std::size_t size) {
  if (size > rest_.size()) throw Error(ErrorCode::BadFormat, "a record is longer than its block");
  auto taken = rest_.first(size);
  rest_ = rest_.subspan(size);
  return taken;
}

std::string_view ByteReader::text() {
  const auto bytes = take(number<std::uint32_t>());
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::size_t ByteReader::count(std::size_t bytes_each) {
  const auto wanted = number<std::uint32_t>();
  if (wanted > rest_.size() / bytes_each)
    throw Error(ErrorCode::BadFormat, "a table claims more rows than its block can hold");
  return wanted;
}

}  // namespace tidemark
