// Files and memory as sources and sinks.
#include "tidemark/engine/base/byte_stream.h"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "tidemark/engine/base/error.h"

namespace tidemark {
namespace {

namespace fs = std::filesystem;

class ByteStreamTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ =
        fs::temp_directory_path() /
        ("tidemark_stream_" + std::to_string(::testing::UnitTest::GetInstance()->random_seed()) +
         ::testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }

  static ErrorCode code_of_opening(const std::string& path) {
    try {
      FileSource source(path);
    } catch (const Error& error) {
      EXPECT_EQ(error.where(), path);
      return error.code();
    }
    return ErrorCode::Internal;
  }

  fs::path folder_;
};

TEST_F(ByteStreamTest, AFileGivesBackWhatWasWritten) {
  const std::string_view text = "high water";
  {
    FileSink sink(path("a"));
    sink.write(std::as_bytes(std::span(text)));
    sink.flush();
  }
  FileSource source(path("a"));
  EXPECT_EQ(source.remaining(), 10u);
  std::vector<std::byte> read(20);
  EXPECT_EQ(source.read(std::span(read).first(4)), 4u);
  EXPECT_EQ(source.remaining(), 6u);
  EXPECT_EQ(source.read(std::span(read).subspan(4)), 6u);
  EXPECT_EQ(source.remaining(), 0u);
  EXPECT_EQ(std::string_view(reinterpret_cast<char*>(read.data()), 10), text);
}

TEST_F(ByteStreamTest, FlushedBytesAreInTheFileBeforeItIsClosed) {
  FileSink sink(path("b"));
  sink.write(std::vector<std::byte>(100));
  sink.flush();
  EXPECT_EQ(fs::file_size(path("b")), 100u);
}

TEST_F(ByteStreamTest, AMissingFileIsNotFound) {
  EXPECT_EQ(code_of_opening(path("missing")), ErrorCode::NotFound);
}

TEST_F(ByteStreamTest, ADirectoryIsUnreadable) {
  EXPECT_EQ(code_of_opening(folder_.string()), ErrorCode::Unreadable);
}

TEST_F(ByteStreamTest, ADeviceIsUnreadable) {
  if (!fs::exists("/dev/null")) GTEST_SKIP();
  EXPECT_EQ(code_of_opening("/dev/null"), ErrorCode::Unreadable);
}

// An error of the system is told in its words; it is not taken for the end of the file.
TEST_F(ByteStreamTest, AReadThatFailsIsAnErrorAndNotTheEnd) {
  {
    FileSink sink(path("a"));
    sink.write(std::vector<std::byte>(100));
  }
  const int next = dup(STDIN_FILENO);  // the number that the source's file will have
  ASSERT_GE(next, 0);
  close(next);
  FileSource source(path("a"));
  const int folder = open(folder_.c_str(), O_RDONLY | O_DIRECTORY);
  ASSERT_EQ(dup2(folder, next), next);  // a folder's bytes cannot be read: EISDIR
  close(folder);
  std::vector<std::byte> into(10);
  try {
    source.read(into);
    FAIL() << "it was read";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::Unreadable);
    EXPECT_EQ(error.where(), path("a"));
    EXPECT_EQ(error.message(), std::string("cannot read: ") + std::strerror(EISDIR));
    EXPECT_NE(error.hint(), "");
  }
}

TEST_F(ByteStreamTest, AFileThatClaimsToBeEmptyAndIsNotIsUnreadable) {
  // Linux makes these two up while they are read: one has bytes, the other gives an I/O error.
  if (!fs::exists("/proc/self/mem")) GTEST_SKIP();
  EXPECT_EQ(code_of_opening("/proc/self/status"), ErrorCode::Unreadable);
  EXPECT_EQ(code_of_opening("/proc/self/mem"), ErrorCode::Unreadable);
}

TEST_F(ByteStreamTest, WritingIntoAMissingFolderIsAnError) {
  EXPECT_THROW(FileSink(path("no/such/folder")), Error);
}

TEST_F(ByteStreamTest, AFullDiskIsAnError) {
  if (!fs::exists("/dev/full")) GTEST_SKIP();
  FileSink sink("/dev/full");
  EXPECT_THROW(
      {
        sink.write(std::vector<std::byte>(1 << 20));
        sink.flush();
      },
      Error);
}

TEST(MemoryStream, AReadPastTheEndGivesWhatThereIs) {
  MemorySource source(std::string_view("abc"));
  std::vector<std::byte> into(8);
  EXPECT_EQ(source.read(into), 3u);
  EXPECT_EQ(source.read(into), 0u);
}

TEST(MemoryStream, AWatchedSourceTellsHowFarItHasCome) {
  MemorySource inner(std::string_view("abcdef"));
  std::vector<std::uint64_t> told;
  WatchedSource source(
      inner,
      [](std::uint64_t done, std::uint64_t total, void* context) {
        static_cast<std::vector<std::uint64_t>*>(context)->insert(
            static_cast<std::vector<std::uint64_t>*>(context)->end(), {done, total});
      },
      &told);
  std::vector<std::byte> into(4);
  source.read(into);
  source.read(into);
  EXPECT_EQ(told, (std::vector<std::uint64_t>{4, 6, 6, 6}));
}

}  // namespace
}  // namespace tidemark
