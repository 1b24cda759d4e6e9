// Walks the blocks of a .tape file: header, checksum, decode, until the end or the damage.
#include "tidemark/engine/tape/file_reader.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <vector>

#include "tidemark/engine/base/byte_codec.h"
#include "tidemark/engine/base/checksum.h"
#include "tidemark/engine/base/error.h"
#include "tidemark/engine/tape/file_format.h"
#include "tidemark/engine/tape/table_decoder.h"

namespace tidemark {
namespace {

class FileReader {
 public:
  FileReader(ByteSource& source, const std::string& name, const Codec* codec)
      : source_(source), name_(name), codec_(codec), size_(source.remaining()) {}

  Tape read() {
    read_file_header();
    try {
      while (read_block()) good_events_ = events_.size();
    } catch (const Error& damage) {
      // The disk that fails says nothing about the tape.
      if (damage.code() == ErrorCode::Unreadable) throw;
      // What came before the damage is good; with nothing before it there is nothing to give.
      events_.grow_to(good_events_);
      if (events_.size() == 0 || damage.code() == ErrorCode::Unsupported)
        fail(damage.code(), damage.message(), damage.hint());
      const bool is_cut = damage.code() == ErrorCode::Truncated;
      diagnostics_.add(is_cut ? "truncated-file" : "damaged-file", Severity::Warning, place(),
                       damage.message() + "; the " + std::to_string(events_.size()) +
                           " events before it were read");
    }
    return Tape(std::move(tables_), std::move(events_), std::move(diagnostics_));
  }

 private:
  [[noreturn]] void fail(ErrorCode code, const std::string& message,
                         const std::string& hint = {}) const {
    throw Error(code, message, place(), hint);
  }

  std::string place() const { return name_ + " at byte " + std::to_string(block_at_); }

  void read_file_header() {
    std::array<std::byte, kFileHeaderBytes> raw{};
    if (source_.read(raw) < raw.size())
      fail(ErrorCode::Truncated, "the file ends inside its header",
           "was the program that wrote it still starting?");
    if (std::memcmp(raw.data(), kMagic.data(), kMagic.size()) != 0)
      fail(ErrorCode::BadFormat, "this is not a .tape file", "its first bytes are not a tape's");
    const auto version = load_little_endian<std::uint32_t>(raw.data() + kMagic.size());
    if (version != kFileVersion)
      fail(ErrorCode::Unsupported,
           "tape version " + std::to_string(version) + " is not known here (this is version " +
               std::to_string(kFileVersion) + ")",
           "update tidemark");
  }

  // False at the end block.
  bool read_block() {
    block_at_ = size_ - source_.remaining();
    std::array<std::byte, kBlockHeaderBytes> raw{};
    if (source_.read(raw) < raw.size())
      fail(ErrorCode::Truncated, "the file ends without an end block",
           "the run that wrote it may have been killed");
    ByteReader in(raw);
    BlockHeader header{};
    header.kind = static_cast<BlockKind>(in.number<std::uint32_t>());
    header.codec = in.number<std::uint32_t>();
    header.stored_bytes = in.number<std::uint64_t>();
    header.raw_bytes = in.number<std::uint64_t>();
    header.checksum = in.number<std::uint64_t>();
    sum_ = Checksum();
    sum_.update(std::span(raw).first(kBlockHeaderBytes - sizeof(header.checksum)));
    if (header.stored_bytes > source_.remaining())
      fail(ErrorCode::Truncated, "the file ends inside a block",
           "the run that wrote it may have been killed");
    if (header.kind == BlockKind::Events && header.codec == kStored) {
      read_stored_events(header);
      return true;
    }
    return decode(header.kind, header, unpack(header));
  }

  bool decode(BlockKind kind, const BlockHeader& header, const std::vector<std::byte>& raw) {
    switch (kind) {
      case BlockKind::Tables: decode_tables(raw, tables_); return true;
      case BlockKind::Events: copy_events(header, raw); return true;
      case BlockKind::Diagnostics: diagnostics_.add(decode_diagnostics(raw)); return true;
      case BlockKind::End: return end(raw);
    }
    fail(ErrorCode::BadFormat, "a block of unknown kind");
  }

  std::vector<std::byte> unpack(const BlockHeader& header) {
    std::vector<std::byte> stored(header.stored_bytes);
    if (source_.read(stored) < stored.size())
      fail(ErrorCode::Truncated, "the file ends inside a block");
    sum_.update(stored);
    check_sum(header);
    if (header.codec == kStored) return stored;
    if (!codec_ || header.codec != codec_->number())
      fail(ErrorCode::Unsupported,
           "the tape is compressed and this build of tidemark cannot unpack it",
           "rewrite it elsewhere with: tidemark convert --uncompressed");
    if (header.raw_bytes > kMaxCompressedRawBytes)
      fail(ErrorCode::BadFormat, "a compressed block claims to be impossibly large");
    std::vector<std::byte> raw(header.raw_bytes);
    codec_->decompress(stored, raw);
    return raw;
  }

  void check_sum(const BlockHeader& header) const {
    if (sum_.value() != header.checksum)
      fail(ErrorCode::BadFormat, "a block's checksum is wrong: the file is damaged",
           "copy it again from where it was made");
  }

  std::size_t event_count(const BlockHeader& header) const {
    const std::uint64_t count = header.raw_bytes / EventColumns::kBytesPerEvent;
    const bool whole = count * EventColumns::kBytesPerEvent == header.raw_bytes;
    const bool stored_whole = header.codec != kStored || header.stored_bytes == header.raw_bytes;
    if (!whole || !stored_whole || count == 0 || count > kBlockEvents)
      fail(ErrorCode::BadFormat, "a block of events has an impossible size");
    return count;
  }

  // Straight from the file into the columns: no second copy.
  void read_stored_events(const BlockHeader& header) {
    const std::size_t first = events_.size(), count = event_count(header);
    if (first == 0) events_.reserve(source_.remaining() / EventColumns::kBytesPerEvent);
    events_.grow_to(first + count);
    events_.for_each_column([&]<class T>(const char*, std::span<T> values) {
      const auto bytes = std::as_writable_bytes(values.subspan(first));
      if (source_.read(bytes) < bytes.size())
        fail(ErrorCode::Truncated, "the file ends inside a block");
      sum_.update(bytes);
      swap_if_big_endian(values.subspan(first));
    });
    check_sum(header);
    check_events(first);
  }

  void copy_events(const BlockHeader& header, const std::vector<std::byte>& raw) {
    const std::size_t first = events_.size(), count = event_count(header);
    events_.grow_to(first + count);
    const std::byte* from = raw.data();
    events_.for_each_column([&]<class T>(const char*, std::span<T> values) {
      std::memcpy(values.data() + first, from, count * sizeof(T));
      from += count * sizeof(T);
      swap_if_big_endian(values.subspan(first));
    });
    check_events(first);
  }

  void check_events(std::size_t first) const {
    if (!ids_in_range(events_, first, tables_))
      fail(ErrorCode::BadFormat, "an event points past its table");
  }

  static bool ids_in_range(const EventColumns& events, std::size_t first, const Tables& tables);

  bool end(const std::vector<std::byte>& raw) {
    const auto claimed = ByteReader(raw).number<std::uint64_t>();
    if (claimed != events_.size())
      diagnostics_.add("missing-events", Severity::Warning, name_,
                       "the file should have " + std::to_string(claimed) + " events");
    return false;
  }

  ByteSource& source_;
  const std::string& name_;
  const Codec* codec_;
  const std::uint64_t size_;
  std::uint64_t block_at_ = 0;
  Checksum sum_;
  Tables tables_;
  EventColumns events_;
  std::size_t good_events_ = 0;
  Diagnostics diagnostics_;
};

// The highest value below "none", plus one: what a table must at least hold.
template <class T>
std::size_t needed_rows(std::span<const T> ids) {
  T highest = 0;
  for (T id : ids) highest = std::max<T>(highest, static_cast<T>(id + 1));  // none wraps to 0
  return highest;
}

template <class T>
bool all_below(std::span<const T> values, std::size_t limit) {
  T highest = 0;
  for (T value : values) highest = std::max(highest, value);
  return highest < limit;
}

// Storages are numbered about when they are first named: see TapeBuilder::new_storage.
bool subjects_in_range(std::span<const std::uint8_t> kinds, std::span<const std::uint32_t> subjects,
                       std::span<const std::uint8_t> devices, std::size_t first,
                       const Tables& tables) {
  std::array<std::uint64_t, kKindCount> subject_limits{}, limit_grows{};
  std::array<std::uint32_t, kKindCount> device_limits{};
  for (std::size_t k = 0; k < kKindCount; ++k) {
    const Kind kind = static_cast<Kind>(k);
    subject_limits[k] = is_about_storage(kind) ? first + kStoragesAhead
                        : kind == Kind::Mark   ? tables.strings.size()
                                               : UINT64_MAX;
    limit_grows[k] = is_about_storage(kind) ? 1 : 0;
    device_limits[k] = needs_device(kind) ? DeviceId::kNone : UINT32_MAX;
  }
  unsigned bad = 0;  // no branch a row: this is part of reading every event
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    bad |= subjects[i] >= subject_limits[kinds[i]] + i * limit_grows[kinds[i]];
    bad |= devices[i] >= device_limits[kinds[i]];
  }
  return bad == 0;
}

bool FileReader::ids_in_range(const EventColumns& events, std::size_t first, const Tables& tables) {
  const auto tail = [&](auto values) { return values.subspan(first); };
  const bool good = all_below(tail(events.kinds()), kKindCount) &&
                    all_below(tail(events.categories()), kCategoryCount) &&
                    all_below(tail(events.phases()), kPhaseCount) &&
                    needed_rows(tail(events.scopes())) <= tables.scopes().size() &&
                    needed_rows(tail(events.stacks())) <= tables.stacks().size() &&
                    needed_rows(tail(events.calls())) <= tables.calls().size() &&
                    needed_rows(tail(events.streams())) <= tables.streams().size() &&
                    needed_rows(tail(events.devices())) <= tables.devices().size();
  return good && subjects_in_range(tail(events.kinds()), tail(events.subjects()),
                                   tail(events.devices()), first, tables);
}

}  // namespace

Tape read_tape_file(ByteSource& source, const std::string& name, const Codec* codec) {
  return FileReader(source, name, codec).read();
}

}  // namespace tidemark
