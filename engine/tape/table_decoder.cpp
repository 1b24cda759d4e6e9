// Checked decoding of strings, devices, streams, scopes, stacks, calls and diagnostics.
#include "tidemark/tape/table_decoder.h"

#include "tidemark/base/byte_codec.h"
#include "tidemark/base/error.h"

namespace tidemark {
namespace {

template <class IdType>
IdType checked_id(ByteReader& in, std::size_t limit, bool may_be_none) {
  const IdType id(in.number<typename IdType::rep>());
  if (id ? id.value >= limit : !may_be_none)
    throw Error(ErrorCode::BadFormat, "a table row points past its table");
  return id;
}

StringId string_id(ByteReader& in, const Tables& tables) {
  return checked_id<StringId>(in, tables.strings.size(), false);
}

void expect_new(bool is_new) {
  if (!is_new) throw Error(ErrorCode::BadFormat, "a table has the same row twice");
}

}  // namespace

void TableDecoder::decode(std::span<const std::byte> raw, Tables& into) {
  ByteReader in(raw);
  for (std::size_t n = in.count(4); n > 0; --n) {
    const std::size_t before = into.strings.size();
    into.strings.intern(in.text());
    expect_new(into.strings.size() > before);
  }
  for (std::size_t n = in.count(4); n > 0; --n) {
    const std::size_t before = into.devices().size();
    into.device(in.text());
    expect_new(into.devices().size() > before);
  }
  for (std::size_t n = in.count(8); n > 0; --n) {
    const std::size_t before = into.streams().size();
    into.stream(in.number<std::int64_t>());
    expect_new(into.streams().size() > before);
  }
  for (std::size_t n = in.count(8); n > 0; --n) {
    const StringId path = string_id(in, into);
    const auto parent = checked_id<ScopeId>(in, into.scopes().size(), true);
    into.append(Scope{path, parent});
  }
  for (std::size_t n = in.count(16); n > 0; --n) {
    StackNode node;
    node.frame.file = string_id(in, into);
    node.frame.function = string_id(in, into);
    node.frame.line = in.number<std::uint32_t>();
    node.parent = checked_id<StackId>(in, into.stacks().size(), true);
    into.append(node);
  }
  for (std::size_t n = in.count(8); n > 0; --n) {
    const StringId op = string_id(in, into);
    into.append(Call{op, string_id(in, into)});
  }
  for (std::size_t n = in.count(8); n > 0; --n) {
    const std::string_view key = in.text();
    into.set_meta(key, in.text());
  }
  if (!in.at_end()) throw Error(ErrorCode::BadFormat, "a block of tables has bytes left over");
}

Diagnostics decode_diagnostics(std::span<const std::byte> raw) {
  ByteReader in(raw);
  Diagnostics all;
  for (std::size_t n = in.count(21); n > 0; --n) {
    const std::string_view code = in.text();
    const auto severity = in.number<std::uint8_t>();
    if (severity > static_cast<std::uint8_t>(Severity::Error))
      throw Error(ErrorCode::BadFormat, "a diagnostic has an unknown severity");
    const auto count = in.number<std::int64_t>();
    const std::string_view where = in.text();
    all.add(code, static_cast<Severity>(severity), std::string(where), std::string(in.text()),
            count);
  }
  return all;
}

}  // namespace tidemark
