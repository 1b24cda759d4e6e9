// Takes the blocks of a .tape file from the disk, until the end or the damage; what they say is
// found out behind it.
//
//   file -> header, bytes -> events into their columns, others into memory -> block_decoder.h
#include "tidemark/engine/tape/file_reader.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <exception>
#include <vector>

#include "tidemark/engine/base/byte_codec.h"
#include "tidemark/engine/base/error.h"
#include "tidemark/engine/base/large_pages.h"
#include "tidemark/engine/base/little_endian.h"
#include "tidemark/engine/base/work_behind.h"
#include "tidemark/engine/tape/block_decoder.h"
#include "tidemark/engine/tape/file_format.h"

namespace tidemark {
namespace {

struct TakenBlock {
  FileBlock block;
  EventRows ahead;
};

// In bytes of memory. A few blocks of events: smaller tapes are read before a thread has begun.
// What waits is in memory without anybody having looked at it, so there is an end to it.
constexpr WorkBehind<TakenBlock>::Limits kDecoding = {std::size_t{4} << 20, std::size_t{32} << 20};
// So far before events come to their rows the thread behind has memory put there.
constexpr std::size_t kRowsAhead = 8 * kBlockEvents;

class FileReader {
 public:
  FileReader(ByteSource& source, const std::string& name, const Codec* codec)
      : source_(source), name_(name), size_(source.remaining()), decoder_(name, codec) {}

  Tape read() {
    read_file_header();
    try {
      read_blocks();
    } catch (const Error& damage) {
      end_before(damage);
    }
    events_.grow_to(decoder_.good_events());
    return Tape(std::move(decoder_.tables()), std::move(events_),
                std::move(decoder_.diagnostics()));
  }

 private:
  std::string place() const { return name_ + " at byte " + std::to_string(block_at_); }

  // What came before the damage is good; with nothing before it there is nothing to give.
  void end_before(const Error& damage) {
    // The disk that fails says nothing about the tape.
    if (damage.code() == ErrorCode::Unreadable) throw damage;
    const std::size_t good = decoder_.good_events();
    if (good == 0 || damage.code() == ErrorCode::Unsupported)
      throw Error(damage.code(), damage.message(), place(), damage.hint());
    const bool is_cut = damage.code() == ErrorCode::Truncated;
    decoder_.diagnostics().add(
        is_cut ? "truncated-file" : "damaged-file", Severity::Warning, place(),
        damage.message() + "; the " + std::to_string(good) + " events before it were read");
  }

  void read_file_header() {
    std::array<std::byte, kFileHeaderBytes> raw{};
    if (source_.read(raw) < raw.size())
      throw Error(ErrorCode::Truncated, "the file ends inside its header", place(),
                  "was the program that wrote it still starting?");
    if (std::memcmp(raw.data(), kMagic.data(), kMagic.size()) != 0)
      throw Error(ErrorCode::BadFormat, "this is not a .tape file", place(),
                  "its first bytes are not a tape's");
    const auto version = load_little_endian<std::uint32_t>(raw.data() + kMagic.size());
    if (version != kFileVersion && version != kFormerFileVersion)
      throw Error(ErrorCode::Unsupported,
                  "tape version " + std::to_string(version) +
                      " is not known here (this is version " + std::to_string(kFileVersion) + ")",
                  place(),
                  version > kFileVersion
                      ? "update tidemark"
                      : "an older tidemark wrote it: there, tidemark convert makes a "
                        "text of it, which every one reads");
  }

  // Throws what is wrong first in the order of the file: what is behind it was perhaps taken, never
  // decoded.
  void read_blocks() {
    std::exception_ptr ended_by;
    try {
      while (!decoding_.has_failed() && read_block()) {
      }
    } catch (...) {
      ended_by = std::current_exception();
    }
    try {
      decoding_.finish();
    } catch (...) {
      block_at_ = decoder_.at();
      throw;
    }
    if (ended_by) std::rethrow_exception(ended_by);
  }

  // False at the end block.
  bool read_block() {
    block_at_ = size_ - source_.remaining();
    std::array<std::byte, kBlockHeaderBytes> raw{};
    if (source_.read(raw) < raw.size())
      throw Error(ErrorCode::Truncated, "the file ends without an end block", {},
                  "the run that wrote it may have been killed");
    FileBlock block;
    block.at = block_at_;
    ByteReader in(raw);
    block.header.kind = static_cast<BlockKind>(in.number<std::uint32_t>());
    block.header.codec = in.number<std::uint32_t>();
    block.header.stored_bytes = in.number<std::uint64_t>();
    block.header.raw_bytes = in.number<std::uint64_t>();
    block.header.checksum = in.number<std::uint64_t>();
    block.sum.update(std::span(raw).first(kBlockHeaderBytes - sizeof(block.header.checksum)));
    if (block.header.stored_bytes > source_.remaining())
      throw Error(ErrorCode::Truncated, "the file ends inside a block", {},
                  "the run that wrote it may have been killed");
    take(block);
    const bool is_end = block.header.kind == BlockKind::End;
    const std::size_t held =
        sizeof(block) + block.stored.size() + block.rows.size() * EventColumns::kBytesPerEvent;
    const EventRows ahead = rows_ahead(block);
    decoding_.hand_over({std::move(block), ahead}, held);
    return !is_end;
  }

  void take(FileBlock& block) {
    const BlockHeader& header = block.header;
    if (header.kind == BlockKind::Events) add_rows(block);
    if (header.codec == kStored && block.rows.size() > 0) {
      // Straight from the file into the columns: no second copy.
      block.rows.for_each_column([&](auto column) { fill(std::as_writable_bytes(column)); });
    } else {
      block.stored.resize(header.stored_bytes);
      fill(block.stored);
    }
  }

  void add_rows(FileBlock& block) {
    const std::size_t first = events_.size(), count = event_count(block.header);
    if (first == 0 && count > 0 && block.header.codec == kStored)
      events_.reserve(source_.remaining() / EventColumns::kBytesPerEvent);
    // Where the columns move, nobody may be looking at them.
    if (first + count > events_.capacity()) decoding_.wait();
    events_.grow_to(first + count);
    block.rows = events_.rows(first, count);
    block.first_event = first;
  }

  EventRows rows_ahead(const FileBlock& block) {
    const std::size_t first = block.first_event + kRowsAhead, count = block.rows.size();
    return first + count <= events_.capacity() ? events_.rows(first, count) : EventRows();
  }

  // Much of the memory that the columns need; for the rest the thread that reads has time.
  void decode(TakenBlock& taken) {
    decoder_.decode(taken.block);
    const auto bring = [](auto column) { bring_in(column.data(), column.size_bytes()); };
    bring(taken.ahead.time_ns), bring(taken.ahead.bytes);
    bring(taken.ahead.subject), bring(taken.ahead.scope);
  }

  void fill(std::span<std::byte> bytes) {
    if (source_.read(bytes) < bytes.size())
      throw Error(ErrorCode::Truncated, "the file ends inside a block");
  }

  ByteSource& source_;
  const std::string& name_;
  const std::uint64_t size_;
  std::uint64_t block_at_ = 0;
  EventColumns events_;
  BlockDecoder decoder_;
  WorkBehind<TakenBlock> decoding_{[this](TakenBlock& taken) { decode(taken); }, kDecoding};
};

}  // namespace

Tape read_tape_file(ByteSource& source, const std::string& name, const Codec* codec) {
  return FileReader(source, name, codec).read();
}

}  // namespace tidemark
