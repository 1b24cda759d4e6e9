// Checksum, unpack, decode, check: the same for every block, and nothing is trusted before.
#include "tidemark/engine/tape/block_decoder.h"

#include <cstring>

#include "tidemark/engine/base/byte_codec.h"
#include "tidemark/engine/base/error.h"
#include "tidemark/engine/base/little_endian.h"
#include "tidemark/engine/tape/event_checks.h"
#include "tidemark/engine/tape/table_decoder.h"

namespace tidemark {
namespace {

void check_sum(const FileBlock& block) {
  if (block.sum.value() != block.header.checksum)
    throw Error(ErrorCode::BadFormat, "a block's checksum is wrong: the file is damaged", {},
                "copy it again from where it was made");
}

// Fills each column, and looks at it while it is in the processor's cache.
template <class Fill>
bool columns_in_range(const EventRows& rows, EventChecks& checks, const Fill& fill) {
  bool in_range = true;
  rows.for_each_column([&]<class T>(std::span<T> values) {
    fill(std::as_writable_bytes(values));
    swap_if_big_endian(values);
    in_range &= checks.next_in_range(std::span<const T>(values));
  });
  return in_range;
}

}  // namespace

std::size_t event_count(const BlockHeader& header) {
  const std::uint64_t count = header.raw_bytes / EventColumns::kBytesPerEvent;
  const bool whole = count * EventColumns::kBytesPerEvent == header.raw_bytes;
  const bool stored_whole = header.codec != kStored || header.stored_bytes == header.raw_bytes;
  return whole && stored_whole && count <= kBlockEvents ? count : 0;
}

void BlockDecoder::decode(FileBlock& block) {
  at_ = block.at;
  if (block.header.kind == BlockKind::Events) return decode_events(block);
  const std::vector<std::byte> raw = unpack(block);
  switch (block.header.kind) {
    case BlockKind::Tables: return decode_tables(raw, tables_);
    case BlockKind::Diagnostics: return diagnostics_.add(decode_diagnostics(raw));
    case BlockKind::End: return end(raw);
    case BlockKind::Events: break;
  }
  throw Error(ErrorCode::BadFormat, "a block of unknown kind");
}

std::vector<std::byte> BlockDecoder::unpack(FileBlock& block) const {
  block.sum.update(block.stored);
  check_sum(block);
  const BlockHeader& header = block.header;
  if (header.codec == kStored) return std::move(block.stored);
  if (!codec_ || header.codec != codec_->number())
    throw Error(ErrorCode::Unsupported,
                "the tape is compressed and this build of tidemark cannot unpack it", {},
                "rewrite it elsewhere with: tidemark convert --uncompressed");
  if (header.raw_bytes > kMaxCompressedRawBytes)
    throw Error(ErrorCode::BadFormat, "a compressed block claims to be impossibly large");
  std::vector<std::byte> raw(header.raw_bytes);
  codec_->decompress(block.stored, raw);
  return raw;
}

void BlockDecoder::decode_events(FileBlock& block) {
  const bool is_in_rows = block.header.codec == kStored && block.rows.size() > 0;
  const std::vector<std::byte> raw = is_in_rows ? std::vector<std::byte>() : unpack(block);
  if (block.rows.size() == 0)
    throw Error(ErrorCode::BadFormat, "a block of events has an impossible size");
  EventChecks checks(tables_);
  bool in_range = true;
  if (is_in_rows) {
    in_range = columns_in_range(block.rows, checks,
                                [&](std::span<std::byte> column) { block.sum.update(column); });
    check_sum(block);
  } else {
    const std::byte* from = raw.data();
    in_range = columns_in_range(block.rows, checks, [&](std::span<std::byte> column) {
      std::memcpy(column.data(), from, column.size());
      from += column.size();
    });
  }
  if (!in_range || !checks.pairs_in_range(block.rows, block.first_event))
    throw Error(ErrorCode::BadFormat, "an event points past its table");
  good_events_ = block.first_event + block.rows.size();
}

void BlockDecoder::end(const std::vector<std::byte>& raw) {
  const auto claimed = ByteReader(raw).number<std::uint64_t>();
  if (claimed != good_events_)
    diagnostics_.add("missing-events", Severity::Warning, name_,
                     "the file should have " + std::to_string(claimed) + " events");
}

}  // namespace tidemark
