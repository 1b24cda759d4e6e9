// Damaged .tape files: cut anywhere, flipped anywhere, or built to deceive.
#include <gtest/gtest.h>

#include <cstring>

#include "tests/support/tape_content.h"
#include "tests/support/toy_codec.h"
#include "tidemark/engine/base/byte_codec.h"
#include "tidemark/engine/base/checksum.h"
#include "tidemark/engine/base/error.h"
#include "tidemark/engine/replay/verify.h"
#include "tidemark/engine/tape/builder.h"
#include "tidemark/engine/tape/file_format.h"
#include "tidemark/engine/tape/open.h"

namespace tidemark {
namespace {

using test::file_of;
using test::rows_of;
using test::tape_of;
using Bytes = std::vector<std::byte>;

// Three blocks of events of a few rows each, with tables growing between them.
Bytes flushed_file(std::vector<std::size_t>* ends = nullptr, const Codec* codec = nullptr) {
  MemorySink sink;
  TapeWriter writer(sink, codec);
  TapeBuilder builder;
  builder.spill_to(writer, true);
  const DeviceId cpu = builder.tables().device("cpu");
  for (int block = 0; block < 3; ++block) {
    builder.begin_scope(builder.tables().scope("part" + std::to_string(block)));
    builder.free(builder.alloc(cpu, 10 + block));
    builder.flush();
    if (ends) ends->push_back(sink.bytes().size());
  }
  builder.finish();
  return sink.bytes();
}

void append_block(Bytes& file, BlockKind kind, const ByteWriter& raw, std::uint32_t codec = kStored,
                  std::uint64_t claimed_raw = UINT64_MAX) {
  ByteWriter header;
  header.number(static_cast<std::uint32_t>(kind));
  header.number(codec);
  header.number(static_cast<std::uint64_t>(raw.size()));
  header.number(claimed_raw == UINT64_MAX ? raw.size() : claimed_raw);
  Checksum sum;
  sum.update(header.bytes());
  sum.update(raw.bytes());
  header.number(sum.value());
  file.insert(file.end(), header.bytes().begin(), header.bytes().end());
  file.insert(file.end(), raw.bytes().begin(), raw.bytes().end());
}

Bytes file_header() {
  MemorySink sink;
  TapeWriter writer(sink);
  return sink.bytes();
}

struct TableCounts {
  std::vector<std::string> strings, devices;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> scopes;
};

ByteWriter tables_block(const TableCounts& rows) {
  ByteWriter out;
  out.number(static_cast<std::uint32_t>(rows.strings.size()));
  for (const auto& s : rows.strings) out.text(s);
  out.number(static_cast<std::uint32_t>(rows.devices.size()));
  for (const auto& d : rows.devices) out.text(d);
  out.number(std::uint32_t{0});  // streams
  out.number(static_cast<std::uint32_t>(rows.scopes.size()));
  for (auto [path, parent] : rows.scopes) {
    out.number(path);
    out.number(parent);
  }
  for (int table = 0; table < 3; ++table) out.number(std::uint32_t{0});  // stacks, calls, meta
  return out;
}

// One event as a block of one row.
ByteWriter event_block(const Event& e) {
  ByteWriter out;
  out.number(e.time_ns);
  out.number(e.bytes);
  out.number(e.subject);
  out.number(e.scope.value);
  out.number(e.stack.value);
  out.number(e.call.value);
  out.number(e.stream.value);
  out.number(static_cast<std::uint8_t>(e.kind));
  out.number(static_cast<std::uint8_t>(e.category));
  out.number(static_cast<std::uint8_t>(e.phase));
  out.number(e.device.value);
  return out;
}

Error error_of(const Bytes& file, const Codec* codec = nullptr) {
  try {
    tape_of(file, codec);
  } catch (const Error& error) {
    return error;
  }
  return Error(ErrorCode::Internal, "it was read");
}

TEST(DamagedTape, CutAtAnyByteItGivesThePrefixOfItsWholeBlocks) {
  std::vector<std::size_t> ends;
  const Bytes file = flushed_file(&ends);
  const Tape whole = tape_of(file);
  const auto all = rows_of(whole);
  for (std::size_t size = 0; size < file.size(); ++size) {
    const std::size_t blocks = static_cast<std::size_t>(
        std::count_if(ends.begin(), ends.end(), [&](std::size_t end) { return end <= size; }));
    const Bytes cut(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(size));
    if (blocks == 0) {
      EXPECT_EQ(error_of(cut).code(), ErrorCode::Truncated) << size;
      continue;
    }
    const Tape tape = tape_of(cut);
    const auto rows = rows_of(tape);
    ASSERT_EQ(rows.size(), blocks * 3) << size;
    EXPECT_TRUE(std::equal(rows.begin(), rows.end(), all.begin())) << size;
    EXPECT_NE(tape.diagnostics().find("truncated-file"), nullptr) << size;
  }
}

TEST(DamagedTape, AnyFlippedBitIsNoticedAndWhatIsBeforeItIsRead) {
  std::vector<std::size_t> ends;
  const Bytes file = flushed_file(&ends);
  const Tape whole = tape_of(file);
  const auto all = rows_of(whole);
  for (std::size_t bit = 0; bit < file.size() * 8; ++bit) {
    const std::size_t byte = bit / 8;
    const bool is_reserved = byte >= 12 && byte < 16;
    Bytes flipped = file;
    flipped[byte] ^= std::byte(1 << bit % 8);
    if (byte >= ends[0]) {
      const Tape tape = tape_of(flipped);
      const auto rows = rows_of(tape);
      EXPECT_FALSE(tape.diagnostics().empty()) << bit;
      EXPECT_GE(rows.size(), 3u) << bit;
      EXPECT_TRUE(std::equal(rows.begin(), rows.end(), all.begin())) << bit;
    } else if (!is_reserved) {
      EXPECT_NE(error_of(flipped).code(), ErrorCode::Internal) << bit;
    }
  }
}

TEST(DamagedTape, FlippedBitsOfACompressedFileAreNoticedToo) {
  const test::ToyCodec codec;
  const Bytes file = flushed_file(nullptr, &codec);
  for (std::size_t bit = kFileHeaderBytes * 8; bit < file.size() * 8; ++bit) {
    Bytes flipped = file;
    flipped[bit / 8] ^= std::byte(1 << bit % 8);
    try {
      EXPECT_FALSE(tape_of(flipped, &codec).diagnostics().empty()) << bit;
    } catch (const Error& error) {
      EXPECT_NE(error.where(), "") << bit;
    }
  }
}

TEST(DamagedTape, ANewerVersionIsUnsupported) {
  Bytes file = flushed_file();
  file[8] = std::byte{9};
  const Error error = error_of(file);
  EXPECT_EQ(error.code(), ErrorCode::Unsupported);
  EXPECT_NE(error.message().find("version 9"), std::string::npos);
  EXPECT_NE(error.hint().find("update"), std::string::npos);
}

// The one before this: its events are all known here.
TEST(DamagedTape, TheVersionBeforeThisOneIsRead) {
  Bytes file = flushed_file();
  const Tape tape = tape_of(file);
  file[8] = std::byte{2};
  EXPECT_EQ(tape_of(file).size(), tape.size());
  EXPECT_TRUE(tape_of(file).diagnostics().all().empty());
}

TEST(DamagedTape, AnOlderVersionIsUnsupportedToo) {
  Bytes file = flushed_file();
  file[8] = std::byte{1};
  const Error error = error_of(file);
  EXPECT_EQ(error.code(), ErrorCode::Unsupported);
  EXPECT_NE(error.hint().find("an older tidemark wrote it"), std::string::npos);
}

TEST(DamagedTape, AWrongMagicIsNotATape) {
  Bytes file = flushed_file();
  file[1] = std::byte{'X'};
  EXPECT_EQ(error_of(file).code(), ErrorCode::BadFormat);
}

TEST(DamagedTape, EveryErrorSaysWhichFileAndWhichByte) {
  Bytes file = file_header();
  append_block(file, BlockKind::Tables, tables_block({{"a", "a"}, {}, {}}));
  const Error error = error_of(file);
  EXPECT_EQ(error.code(), ErrorCode::BadFormat);
  EXPECT_EQ(error.where(), "memory at byte 16");
}

TEST(DamagedTape, TablesThatContradictThemselvesAreRefused) {
  const std::vector<TableCounts> wrong = {
      {{"a", "a"}, {}, {}},                                    // a string twice
      {{}, {"cpu", "cpu"}, {}},                                // a device twice
      {{"a"}, {}, {{0, UINT32_MAX}, {0, UINT32_MAX}}},         // a scope twice
      {{"a"}, {}, {{7, UINT32_MAX}}},                          // a name past the strings
      {{"a"}, {}, {{0, 0}}},                                   // its own parent
      {{"a", "b"}, {}, {{0, UINT32_MAX}, {1, 0}}},             // "b" is not below "a"
      {{"a", "a.b"}, {}, {{1, UINT32_MAX}, {0, UINT32_MAX}}},  // a child before its parent
      {{std::string(kMaxNameBytes + 1, 'x')}, {}, {}},         // too long
  };
  for (std::size_t i = 0; i < wrong.size(); ++i) {
    Bytes file = file_header();
    append_block(file, BlockKind::Tables, tables_block(wrong[i]));
    EXPECT_EQ(error_of(file).code(), ErrorCode::BadFormat) << i;
  }
}

TEST(DamagedTape, TablesWithBytesLeftOverAreRefused) {
  Bytes file = file_header();
  ByteWriter rows = tables_block({{"a"}, {}, {}});
  rows.number(std::uint8_t{0});
  append_block(file, BlockKind::Tables, rows);
  EXPECT_EQ(error_of(file).code(), ErrorCode::BadFormat);
}

// A good alloc, to be spoiled in one field.
Event good_alloc() {
  Event e;
  e.kind = Kind::Alloc;
  e.subject = 0;
  e.device = DeviceId(0);
  return e;
}

TEST(DamagedTape, EventsThatPointPastATableAreRefused) {
  std::vector<Event> wrong(10, good_alloc());
  wrong[0].kind = static_cast<Kind>(kKindCount);
  wrong[1].category = static_cast<Category>(kCategoryCount);
  wrong[2].phase = static_cast<Phase>(kPhaseCount);
  wrong[3].scope = ScopeId(0);
  wrong[4].stack = StackId(5);
  wrong[5].call = CallId(0);
  wrong[6].stream = StreamId(0);
  wrong[7].device = DeviceId(1);
  wrong[8].device = DeviceId();
  wrong[9].subject = UINT32_MAX - 1;
  Bytes start = file_header();
  append_block(start, BlockKind::Tables, tables_block({{}, {"cpu"}, {}}));
  Bytes good = start;
  append_block(good, BlockKind::Events, event_block(good_alloc()));
  EXPECT_EQ(tape_of(good).size(), 1u);
  for (std::size_t i = 0; i < wrong.size(); ++i) {
    Bytes file = start;
    append_block(file, BlockKind::Events, event_block(wrong[i]));
    EXPECT_EQ(error_of(file).code(), ErrorCode::BadFormat) << i;
  }
}

TEST(DamagedTape, AStorageFarAheadOfItsEventIsRefusedWhereverBlocksEnd) {
  // The second event may name the numbers below 1 + 131 072, also when its block is cut after it.
  for (std::uint32_t number : {131'072u, 131'073u}) {
    Event far = good_alloc();
    far.subject = number;
    Bytes file = file_header();
    append_block(file, BlockKind::Tables, tables_block({{}, {"cpu"}, {}}));
    append_block(file, BlockKind::Events, event_block(good_alloc()));
    append_block(file, BlockKind::Events, event_block(far));
    EXPECT_EQ(tape_of(file).size(), number == 131'072u ? 2u : 1u);
  }
}

TEST(DamagedTape, AMarkWithoutATextAndASegmentOrPoolWithoutADeviceAreRefused) {
  Event mark, segment, pool;
  mark.subject = 3;
  segment.kind = Kind::SegmentMap;
  pool.kind = Kind::PoolUse;
  for (const Event& wrong : {mark, segment, pool}) {
    Bytes file = file_header();
    append_block(file, BlockKind::Events, event_block(wrong));
    EXPECT_EQ(error_of(file).code(), ErrorCode::BadFormat);
  }
}

TEST(DamagedTape, ABlockOfEventsOfAnImpossibleSizeIsRefused) {
  for (std::size_t size : {std::size_t{0}, std::size_t{37}, std::size_t{39}}) {
    Bytes file = file_header();
    ByteWriter raw;
    for (std::size_t i = 0; i < size; ++i) raw.number(std::uint8_t{0});
    append_block(file, BlockKind::Events, raw);
    EXPECT_EQ(error_of(file).code(), ErrorCode::BadFormat) << size;
  }
}

TEST(DamagedTape, ACompressedBlockThatClaimsToBeHugeIsNotBelieved) {
  const test::ToyCodec codec;
  Bytes file = file_header();
  append_block(file, BlockKind::Tables, ByteWriter(), codec.number(), std::uint64_t{1} << 60);
  EXPECT_EQ(error_of(file, &codec).code(), ErrorCode::BadFormat);
}

TEST(DamagedTape, ABlockOfUnknownKindIsRefused) {
  Bytes file = file_header();
  append_block(file, static_cast<BlockKind>(99), ByteWriter());
  EXPECT_EQ(error_of(file).code(), ErrorCode::BadFormat);
}

TEST(DamagedTape, MissingEventsAreReported) {
  Bytes file = file_header();
  ByteWriter count;
  count.number(std::uint64_t{5});
  append_block(file, BlockKind::End, count);
  EXPECT_NE(tape_of(file).diagnostics().find("missing-events"), nullptr);
}

TEST(DamagedTape, AnEmptySourceAndAHeaderAloneAreTruncated) {
  MemorySource nothing((std::string_view()));
  EXPECT_THROW(read_tape(nothing, "t"), Error);
  EXPECT_EQ(error_of(file_header()).code(), ErrorCode::Truncated);
}

// Gives the first bytes of a file, then fails as a disk does.
class FailingSource final : public ByteSource {
 public:
  FailingSource(const Bytes& file, std::size_t good) : inner_(file), good_(good) {}
  std::size_t read(std::span<std::byte> into) override {
    if (into.size() > good_) throw Error(ErrorCode::Unreadable, "cannot read: EIO", "disk");
    good_ -= into.size();
    return inner_.read(into);
  }
  std::uint64_t remaining() const override { return inner_.remaining(); }

 private:
  MemorySource inner_;
  std::size_t good_;
};

TEST(DamagedTape, ADiskThatFailsIsNoDamageOfTheTape) {
  std::vector<std::size_t> ends;
  const Bytes file = flushed_file(&ends);
  for (std::size_t good : {std::size_t{0}, std::size_t{20}, ends[0], ends[1] + 5}) {
    FailingSource source(file, good);
    try {
      read_tape(source, "t");
      FAIL() << "it was read with " << good << " good bytes";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::Unreadable) << good;
      EXPECT_EQ(error.what(), std::string("disk: cannot read: EIO")) << good;
    }
  }
}

TEST(OpenTape, TellsTextFromBinaryByTheFirstByte) {
  MemorySource text(std::string_view("tape 1\nstep\n"));
  EXPECT_EQ(read_tape(text, "t").size(), 1u);
  const Bytes file = flushed_file();
  MemorySource binary{std::span<const std::byte>(file)};
  EXPECT_EQ(read_tape(binary, "t").size(), 9u);
}

TEST(OpenTape, TellsHowFarItHasCome) {
  const Bytes file = flushed_file();
  MemorySource source{std::span<const std::byte>(file)};
  std::uint64_t last = 0;
  OpenOptions options;
  options.progress_context = &last;
  options.on_progress = [](std::uint64_t done, std::uint64_t, void* context) {
    *static_cast<std::uint64_t*>(context) = done;
  };
  read_tape(source, "t", options);
  EXPECT_EQ(last, file.size());
}

}  // namespace
}  // namespace tidemark
