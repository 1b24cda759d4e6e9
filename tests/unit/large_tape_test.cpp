// Large tapes, which are decoded in a thread behind the one that reads them.
#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "tests/support/toy_codec.h"
#include "tidemark/engine/base/error.h"
#include "tidemark/engine/tape/builder.h"
#include "tidemark/engine/tape/file_format.h"
#include "tidemark/engine/tape/file_reader.h"
#include "tidemark/engine/tape/file_writer.h"

namespace tidemark {
namespace {

constexpr std::size_t kBlocks = 12;
// Packed blocks say how many events they have when they come, so their columns move again and
// again.
const test::ToyCodec kToyCodec;

struct File {
  std::vector<std::byte> bytes;
  std::vector<std::size_t> ends;  // of the blocks of events
};

// Names come up between all blocks, so tables grow while events are checked against them.
File write_file(const Codec* codec) {
  File file;
  MemorySink sink;
  TapeWriter writer(sink, codec);
  TapeBuilder builder;
  builder.spill_to(writer, false);
  const DeviceId cpu = builder.tables().device("cpu");
  for (std::size_t block = 0; block < kBlocks; ++block) {
    builder.begin_scope(builder.tables().scope("part" + std::to_string(block)));
    while (builder.size() < (block + 1) * kBlockEvents) {
      const StorageId storage = builder.alloc(cpu, 512);
      if (builder.size() < (block + 1) * kBlockEvents) builder.free(storage);
    }
    builder.flush();
    file.ends.push_back(sink.bytes().size());
  }
  builder.finish();
  file.bytes = sink.bytes();
  return file;
}

// Once for all tests: they take it apart in copies.
const File& large_file(const Codec* codec = nullptr) {
  static const File stored = write_file(nullptr), packed = write_file(&kToyCodec);
  return codec ? packed : stored;
}

Tape read(const std::vector<std::byte>& bytes, const Codec* codec = nullptr) {
  MemorySource source(bytes);
  return read_tape_file(source, "large.tape", codec);
}

class LargeTape : public testing::TestWithParam<const Codec*> {};
INSTANTIATE_TEST_SUITE_P(StoredOrPacked, LargeTape, testing::Values(nullptr, &kToyCodec));

TEST_P(LargeTape, IsReadWhole) {
  const File& file = large_file(GetParam());
  const Tape tape = read(file.bytes, GetParam());
  EXPECT_EQ(tape.size(), kBlocks * kBlockEvents);
  EXPECT_TRUE(tape.diagnostics().empty());
  EXPECT_EQ(tape.tables().scopes().size(), kBlocks);
}

TEST(PackedTape, IsSmaller) {
  EXPECT_LT(large_file(&kToyCodec).bytes.size(), large_file().bytes.size());
}

// The thread that reads may be ahead by then: what it took from behind the damage is in no answer.
TEST_P(LargeTape, DamageInAnyBlockLeavesTheBlocksBeforeIt) {
  const File& file = large_file(GetParam());
  for (std::size_t block = 1; block < kBlocks; ++block) {
    std::vector<std::byte> damaged = file.bytes;
    damaged[file.ends[block] - 1000] ^= std::byte{1};
    const Tape tape = read(damaged, GetParam());
    EXPECT_EQ(tape.size(), block * kBlockEvents);
    EXPECT_EQ(tape.tables().scopes().size(), block + 1) << "tables behind the damage were read";
    const Diagnostic* note = tape.diagnostics().find("damaged-file");
    ASSERT_NE(note, nullptr);
    EXPECT_NE(note->where.find("at byte"), std::string::npos);
    EXPECT_LT(std::stoull(note->where.substr(note->where.rfind(' '))), file.ends[block]);
    EXPECT_GE(std::stoull(note->where.substr(note->where.rfind(' '))), file.ends[block - 1]);
  }
}

TEST_P(LargeTape, DamageComesBeforeWhereTheFileWasCut) {
  const File& file = large_file(GetParam());
  std::vector<std::byte> damaged = file.bytes;
  damaged[file.ends[4] - 1000] ^= std::byte{1};
  damaged.resize(file.ends[8] - 500);
  const Tape tape = read(damaged, GetParam());
  EXPECT_EQ(tape.size(), 4 * kBlockEvents);
  EXPECT_NE(tape.diagnostics().find("damaged-file"), nullptr);
  EXPECT_EQ(tape.diagnostics().find("truncated-file"), nullptr);
}

TEST_P(LargeTape, CutAnywhereLeavesItsWholeBlocks) {
  const File& file = large_file(GetParam());
  for (std::size_t block = 1; block < kBlocks; ++block) {
    std::vector<std::byte> cut = file.bytes;
    cut.resize(file.ends[block] - 500);
    const Tape tape = read(cut, GetParam());
    EXPECT_EQ(tape.size(), block * kBlockEvents);
    EXPECT_NE(tape.diagnostics().find("truncated-file"), nullptr);
  }
}

// A header of zeros is a block that holds nothing, and the end of many a file that a dying system
// wrote: the reader ends soon after, not when it has taken all of them.
TEST(ZerosBehindATape, AreNotTakenOneByOne) {
  TapeBuilder builder;
  builder.alloc(builder.tables().device("cpu"), 512);
  MemorySink sink;
  write_tape(builder.finish(), sink);
  std::vector<std::byte> bytes = sink.bytes();
  bytes.resize(bytes.size() - kBlockHeaderBytes - 8);  // without its end
  bytes.resize(std::size_t{64} << 20);
  MemorySource source(bytes);
  const Tape tape = read_tape_file(source, "zeros.tape");
  EXPECT_EQ(tape.size(), 1u);
  EXPECT_NE(tape.diagnostics().find("damaged-file"), nullptr);
  EXPECT_GT(source.remaining(), bytes.size() - (std::size_t{8} << 20));
}

// A disk that fails says nothing about the tape, however far the thread behind is.
class FailingSource final : public ByteSource {
 public:
  FailingSource(std::span<const std::byte> bytes, std::size_t good) : inner_(bytes), good_(good) {}
  std::size_t read(std::span<std::byte> into) override {
    if (taken_ + into.size() > good_) throw Error(ErrorCode::Unreadable, "the disk is gone");
    taken_ += into.size();
    return inner_.read(into);
  }
  std::uint64_t remaining() const override { return inner_.remaining(); }

 private:
  MemorySource inner_;
  std::size_t good_, taken_ = 0;
};

TEST_P(LargeTape, ADiskThatFailsIsAnError) {
  const File& file = large_file(GetParam());
  FailingSource source(file.bytes, file.ends[6] + 100);
  try {
    read_tape_file(source, "large.tape", GetParam());
    FAIL() << "it was read";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::Unreadable);
  }
}

}  // namespace
}  // namespace tidemark
