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

// How many rows the numbers of a column point into.
struct Limit {
  std::uint64_t rows = UINT64_MAX;
  bool may_be_none = false;  // the highest number of its type
};
using Limits = std::array<Limit, EventColumns::kCount>;

// In the order of the columns. What a subject may be hangs on the kind of its event.
Limits limits_of(const Tables& tables) {
  const auto ids = [](const auto& rows) { return Limit{rows.size(), true}; };
  return {{{},
           {},
           {},
           ids(tables.scopes()),
           ids(tables.stacks()),
           ids(tables.calls()),
           ids(tables.streams()),
           {kKindCount},
           {kCategoryCount},
           {kPhaseCount},
           ids(tables.devices())}};
}

template <class T>
bool all_within(std::span<const T> values, const Limit& limit) {
  if (limit.rows == UINT64_MAX) return true;
  const T more = limit.may_be_none;  // none wraps to 0
  T highest = 0;
  for (T value : values) highest = std::max<T>(highest, static_cast<T>(value + more));
  return static_cast<std::uint64_t>(highest) < limit.rows + more;
}

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
    if (version != kFileVersion && version != kFormerFileVersion)
      fail(ErrorCode::Unsupported,
           "tape version " + std::to_string(version) + " is not known here (this is version " +
               std::to_string(kFileVersion) + ")",
           version > kFileVersion ? "update tidemark"
                                  : "an older tidemark wrote it: there, tidemark convert makes a "
                                    "text of it, which every one reads");
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
    const bool in_range = take_columns(first, [&](std::span<std::byte> column) {
      if (source_.read(column) < column.size())
        fail(ErrorCode::Truncated, "the file ends inside a block");
      sum_.update(column);
    });
    check_sum(header);
    check_events(first, in_range);
  }

  void copy_events(const BlockHeader& header, const std::vector<std::byte>& raw) {
    const std::size_t first = events_.size(), count = event_count(header);
    events_.grow_to(first + count);
    const std::byte* from = raw.data();
    const bool in_range = take_columns(first, [&](std::span<std::byte> column) {
      std::memcpy(column.data(), from, column.size());
      from += column.size();
    });
    check_events(first, in_range);
  }

  // Fills what was added to each column, and looks at it while it is in the processor's cache:
  // whether each column by itself is in range.
  template <class Fill>
  bool take_columns(std::size_t first, const Fill& fill) {
    const Limits limits = limits_of(tables_);
    const Limit* limit = limits.data();
    bool in_range = true;
    events_.for_each_column([&]<class T>(const char*, std::span<T> values) {
      const auto added = values.subspan(first);
      fill(std::as_writable_bytes(added));
      swap_if_big_endian(added);
      in_range &= all_within<T>(added, *limit++);
    });
    return in_range;
  }

  void check_events(std::size_t first, bool columns_in_range) const {
    if (!columns_in_range || !pairs_in_range(first))
      fail(ErrorCode::BadFormat, "an event points past its table");
  }

  bool pairs_in_range(std::size_t first) const;

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

// Storages are numbered about when they are first named: see TapeBuilder::new_storage.
bool subjects_in_range(std::span<const std::uint8_t> kinds, std::span<const std::uint32_t> subjects,
                       std::size_t first, std::size_t strings) {
  constexpr std::uint32_t kOfStorage = kinds_of_which(is_about_storage);
  constexpr std::uint32_t kOfText = kinds_of_which([](Kind kind) { return kind == Kind::Mark; });
  const auto count = static_cast<std::uint32_t>(kinds.size());
  const auto limit = static_cast<std::uint32_t>(
      std::min<std::uint64_t>(first + kStoragesAhead, UINT32_MAX - count));
  const auto texts = static_cast<std::uint32_t>(std::min<std::size_t>(strings, UINT32_MAX));
  std::uint32_t bad = 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint32_t subject = subjects[i], kind = kinds[i];
    bad |= (kOfStorage >> kind) & static_cast<std::uint32_t>(subject >= limit + i);
    bad |= (kOfText >> kind) & static_cast<std::uint32_t>(subject >= texts);
  }
  return (bad & 1) == 0;
}

bool devices_named(std::span<const std::uint8_t> kinds, std::span<const std::uint8_t> devices) {
  constexpr std::uint32_t kOfDevice = kinds_of_which(needs_device);
  std::uint32_t bad = 0;
  for (std::size_t i = 0; i < kinds.size(); ++i)
    bad |= (kOfDevice >> kinds[i]) & static_cast<std::uint32_t>(devices[i] == DeviceId::kNone);
  return (bad & 1) == 0;
}

bool FileReader::pairs_in_range(std::size_t first) const {
  const auto kinds = events_.kinds().subspan(first);
  return subjects_in_range(kinds, events_.subjects().subspan(first), first,
                           tables_.strings.size()) &&
         devices_named(kinds, events_.devices().subspan(first));
}

}  // namespace

Tape read_tape_file(ByteSource& source, const std::string& name, const Codec* codec) {
  return FileReader(source, name, codec).read();
}

}  // namespace tidemark
