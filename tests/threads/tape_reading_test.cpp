// Large tapes, which are decoded in a thread behind the one that reads them.
#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "tidemark/engine/base/error.h"
#include "tidemark/engine/tape/builder.h"
#include "tidemark/engine/tape/file_format.h"
#include "tidemark/engine/tape/file_reader.h"
#include "tidemark/engine/tape/file_writer.h"

namespace tidemark {
namespace {

constexpr std::size_t kBlocks = 12;

struct File {
  std::vector<std::byte> bytes;
  std::vector<std::size_t> ends;  // of the blocks of events
};

// Names come up between all blocks, so tables grow while events are checked against them.
File large_file() {
  File file;
  MemorySink sink;
  TapeWriter writer(sink);
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

Tape read(const std::vector<std::byte>& bytes) {
  MemorySource source(bytes);
  return read_tape_file(source, "large.tape");
}

TEST(LargeTape, IsReadWhole) {
  const File file = large_file();
  const Tape tape = read(file.bytes);
  EXPECT_EQ(tape.size(), kBlocks * kBlockEvents);
  EXPECT_TRUE(tape.diagnostics().empty());
  EXPECT_EQ(tape.tables().scopes().size(), kBlocks);
}

// The thread that reads may be ahead by then: what it took from behind the damage is in no answer.
TEST(LargeTape, DamageInAnyBlockLeavesTheBlocksBeforeIt) {
  const File file = large_file();
  for (std::size_t block = 1; block < kBlocks; ++block) {
    std::vector<std::byte> damaged = file.bytes;
    damaged[file.ends[block] - 1000] ^= std::byte{1};
    const Tape tape = read(damaged);
    EXPECT_EQ(tape.size(), block * kBlockEvents);
    EXPECT_EQ(tape.tables().scopes().size(), block + 1) << "tables behind the damage were read";
    const Diagnostic* note = tape.diagnostics().find("damaged-file");
    ASSERT_NE(note, nullptr);
    EXPECT_NE(note->where.find("at byte"), std::string::npos);
    EXPECT_LT(std::stoull(note->where.substr(note->where.rfind(' '))), file.ends[block]);
    EXPECT_GE(std::stoull(note->where.substr(note->where.rfind(' '))), file.ends[block - 1]);
  }
}

TEST(LargeTape, DamageComesBeforeWhereTheFileWasCut) {
  const File file = large_file();
  std::vector<std::byte> damaged = file.bytes;
  damaged[file.ends[4] - 1000] ^= std::byte{1};
  damaged.resize(file.ends[8] - 500);
  const Tape tape = read(damaged);
  EXPECT_EQ(tape.size(), 4 * kBlockEvents);
  EXPECT_NE(tape.diagnostics().find("damaged-file"), nullptr);
  EXPECT_EQ(tape.diagnostics().find("truncated-file"), nullptr);
}

TEST(LargeTape, CutAnywhereLeavesItsWholeBlocks) {
  const File file = large_file();
  for (std::size_t block = 1; block < kBlocks; ++block) {
    std::vector<std::byte> cut = file.bytes;
    cut.resize(file.ends[block] - 500);
    const Tape tape = read(cut);
    EXPECT_EQ(tape.size(), block * kBlockEvents);
    EXPECT_NE(tape.diagnostics().find("truncated-file"), nullptr);
  }
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

TEST(LargeTape, ADiskThatFailsIsAnError) {
  const File file = large_file();
  FailingSource source(file.bytes, file.ends[6] + 100);
  try {
    read_tape_file(source, "large.tape");
    FAIL() << "it was read";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::Unreadable);
  }
}

}  // namespace
}  // namespace tidemark
