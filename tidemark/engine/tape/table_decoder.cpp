// Checked decoding of strings, devices, streams, scopes, stacks, calls and diagnostics.
#include "tidemark/engine/tape/table_decoder.h"

#include "tidemark/engine/base/byte_codec.h"
#include "tidemark/engine/base/error.h"

namespace tidemark {
namespace {

template <class IdType>
IdType checked_id(ByteReader& in, std::size_t limit, bool may_be_none) {
  const IdType id(in.number<typename IdType::rep>());
  if (id ? id.value >= limit : !may_be_none)
    throw Error(ErrorCode::BadFormat, "a table row points past its table");
  return id;
}

std::string_view string_at(ByteReader& in, const Tables& tables) {
  return tables.strings[checked_id<StringId>(in, tables.strings.size(), false)];
}

// Each row must add exactly one: a row twice, or one before its parent, is damage.
template <class Rows, class Decode>
void decode_rows(ByteReader& in, std::size_t bytes_each, const Rows& rows, Decode&& decode) {
  for (std::size_t left = in.count(bytes_each); left > 0; --left) {
    const std::size_t before = rows.size();
    decode();
    if (rows.size() != before + 1)
      throw Error(ErrorCode::BadFormat, "a table has the same row twice, or a child too early");
  }
}

void decode_scope(ByteReader& in, Tables& into) {
  const std::string_view path = string_at(in, into);
  const auto parent = checked_id<ScopeId>(in, into.scopes().size(), true);
  const ScopeId scope = into.scope(path);
  if (into.scopes()[scope.value].parent != parent)
    throw Error(ErrorCode::BadFormat, "a scope is not below its parent");
}

void decode_stack(ByteReader& in, Tables& into) {
  const std::string_view file = string_at(in, into), function = string_at(in, into);
  const auto line = in.number<std::uint32_t>();
  into.stack(checked_id<StackId>(in, into.stacks().size(), true), file, line, function);
}

// Longer texts could not be written as text again.
std::string short_text(ByteReader& in) {
  const std::string_view text = in.text();
  if (text.size() > kMaxNameBytes) throw Error(ErrorCode::BadFormat, "a diagnostic is too long");
  return std::string(text);
}

}  // namespace

void decode_tables(std::span<const std::byte> raw, Tables& into) {
  ByteReader in(raw);
  decode_rows(in, 4, into.strings, [&] { into.strings.intern(in.text()); });
  decode_rows(in, 4, into.devices(), [&] { into.device(in.text()); });
  decode_rows(in, 8, into.streams(), [&] { into.stream(in.number<std::int64_t>()); });
  decode_rows(in, 8, into.scopes(), [&] { decode_scope(in, into); });
  decode_rows(in, 16, into.stacks(), [&] { decode_stack(in, into); });
  decode_rows(in, 8, into.calls(), [&] {
    const std::string_view op = string_at(in, into);
    into.call(op, string_at(in, into));
  });
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
    const std::string code = short_text(in);
    const auto severity = in.number<std::uint8_t>();
    if (severity > static_cast<std::uint8_t>(Severity::Error))
      throw Error(ErrorCode::BadFormat, "a diagnostic has an unknown severity");
    const auto count = in.number<std::int64_t>();
    std::string where = short_text(in);
    all.add(code, static_cast<Severity>(severity), std::move(where), short_text(in), count);
  }
  return all;
}

}  // namespace tidemark
