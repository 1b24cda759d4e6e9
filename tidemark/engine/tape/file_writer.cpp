// Encodes tables and event columns into checked blocks.
#include "tidemark/engine/tape/file_writer.h"

#include <algorithm>
#include <vector>

#include "tidemark/engine/base/byte_codec.h"
#include "tidemark/engine/base/checksum.h"

namespace tidemark {
namespace {

template <class Rows, class Encode>
void encode_new(ByteWriter& out, const Rows& rows, std::size_t& written, Encode&& encode) {
  out.number(static_cast<std::uint32_t>(rows.size() - written));
  for (; written < rows.size(); ++written) encode(rows[written]);
}

ByteWriter encode_new_rows(const Tables& tables, TablesWritten& written) {
  ByteWriter out;
  out.number(static_cast<std::uint32_t>(tables.strings.size() - written.strings));
  for (; written.strings < tables.strings.size(); ++written.strings)
    out.text(tables.strings[StringId(static_cast<std::uint32_t>(written.strings))]);
  encode_new(out, tables.devices(), written.devices, [&](const Device& d) { out.text(d.name); });
  encode_new(out, tables.streams(), written.streams, [&](std::int64_t s) { out.number(s); });
  encode_new(out, tables.scopes(), written.scopes, [&](const Scope& s) {
    out.number(s.path.value);
    out.number(s.parent.value);
  });
  encode_new(out, tables.stacks(), written.stacks, [&](const StackNode& n) {
    out.number(n.frame.file.value);
    out.number(n.frame.function.value);
    out.number(n.frame.line);
    out.number(n.parent.value);
  });
  encode_new(out, tables.calls(), written.calls, [&](const Call& c) {
    out.number(c.op.value);
    out.number(c.signature.value);
  });
  const bool new_meta = tables.meta_changes() > written.meta_changes;
  out.number(static_cast<std::uint32_t>(new_meta ? tables.meta().size() : 0));
  if (new_meta)
    for (const auto& [key, value] : tables.meta()) {
      out.text(key);
      out.text(value);
    }
  written.meta_changes = tables.meta_changes();
  return out;
}

std::vector<std::byte> encode_events(const EventColumns& events, std::size_t first,
                                     std::size_t count) {
  std::vector<std::byte> raw;
  raw.reserve(count * EventColumns::kBytesPerEvent);
  events.for_each_column([&]<class T>(const char*, std::span<const T> values) {
    const auto bytes = std::as_bytes(values.subspan(first, count));
    raw.insert(raw.end(), bytes.begin(), bytes.end());
    auto* copied = reinterpret_cast<T*>(raw.data() + raw.size() - bytes.size());
    swap_if_big_endian(std::span(copied, count));
  });
  return raw;
}

TablesWritten sizes_of(const Tables& t) {
  return {t.strings.size(),  t.devices().size(), t.streams().size(), t.scopes().size(),
          t.stacks().size(), t.calls().size(),   t.meta_changes()};
}

}  // namespace

TapeWriter::TapeWriter(ByteSink& sink, const Codec* codec) : sink_(sink), codec_(codec) {
  ByteWriter header;
  for (unsigned char c : kMagic) header.number(c);
  header.number(kFileVersion);
  header.number(std::uint32_t{0});
  sink_.write(header.bytes());
}

void TapeWriter::write_block(BlockKind kind, std::span<const std::byte> raw) {
  std::vector<std::byte> packed;
  std::span<const std::byte> stored = raw;
  std::uint32_t codec = kStored;
  if (codec_ && raw.size() <= kMaxCompressedRawBytes) {
    packed = codec_->compress(raw);
    if (packed.size() < raw.size()) {
      stored = packed;
      codec = codec_->number();
    }
  }
  ByteWriter header;
  header.number(static_cast<std::uint32_t>(kind));
  header.number(codec);
  header.number(static_cast<std::uint64_t>(stored.size()));
  header.number(static_cast<std::uint64_t>(raw.size()));
  Checksum sum;
  sum.update(header.bytes());
  sum.update(stored);
  header.number(sum.value());
  sink_.write(header.bytes());
  sink_.write(stored);
}

void TapeWriter::write_new_rows(const Tables& tables) {
  if (written_ == sizes_of(tables)) return;
  TablesWritten written = written_;
  write_block(BlockKind::Tables, encode_new_rows(tables, written).bytes());
  written_ = written;
}

void TapeWriter::write(const Tables& tables, const EventColumns& events, std::size_t first,
                       std::size_t count) {
  write_new_rows(tables);
  write_block(BlockKind::Events, encode_events(events, first, count));
  events_ += count;
}

void TapeWriter::finish(const Tables& tables, const Diagnostics& diagnostics) {
  write_new_rows(tables);
  if (!diagnostics.empty()) {
    ByteWriter out;
    out.number(static_cast<std::uint32_t>(diagnostics.all().size()));
    for (const Diagnostic& d : diagnostics.all()) {
      out.text(d.code);
      out.number(static_cast<std::uint8_t>(d.severity));
      out.number(d.count);
      out.text(d.where);
      out.text(d.message);
    }
    write_block(BlockKind::Diagnostics, out.bytes());
  }
  ByteWriter end;
  end.number(events_);
  write_block(BlockKind::End, end.bytes());
  sink_.flush();
}

void write_tape(const Tape& tape, ByteSink& sink, const Codec* codec) {
  write_tape(tape, tape.diagnostics(), sink, codec);
}

void write_tape(const Tape& tape, const Diagnostics& diagnostics, ByteSink& sink,
                const Codec* codec) {
  TapeWriter writer(sink, codec);
  for (std::size_t first = 0; first < tape.size(); first += kBlockEvents)
    writer.write(tape.tables(), tape.events(), first, std::min(kBlockEvents, tape.size() - first));
  writer.finish(tape.tables(), diagnostics);
}

}  // namespace tidemark
