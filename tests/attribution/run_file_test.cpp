// The file of a run: full disks, files that cannot be read back, and tapes that go on.
#include "tidemark/libtorch/attribution/run_file.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "tidemark/engine/base/error.h"

namespace tidemark {
namespace {

std::string path_in_temporary_folder(const char* name) {
  return (std::filesystem::temp_directory_path() / (std::to_string(getpid()) + name)).string();
}

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text));
}

std::string text_of(const std::vector<std::byte>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::string content_of(const std::string& path) {
  std::ifstream file(path);
  return (std::ostringstream() << file.rdbuf()).str();
}

// No file of this process may be longer, until the test is over.
class ShortFiles {
 public:
  explicit ShortFiles(rlim_t most) {
    getrlimit(RLIMIT_FSIZE, &before_);
    handler_ = std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{most, before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~ShortFiles() {
    setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }

 private:
  rlimit before_{};
  void (*handler_)(int) = nullptr;
};

TEST(RunFile, AFolderThatIsNotThereIsToldAtOnce) {
  EXPECT_THROW(RunFile("/no/such/folder/run.tape", 100), Error);
}

TEST(RunFile, AllIsInTheFileWhileTheDiskTakesIt) {
  const std::string path = path_in_temporary_folder("whole");
  RunFile file(path, 0);
  file.write(bytes_of("abc"));
  file.write(bytes_of("defg"));
  EXPECT_EQ(content_of(path), "abcdefg");
  EXPECT_EQ(file.bytes_in_file(), 7u);
  EXPECT_TRUE(file.problem().empty() && file.in_memory().empty() && !file.has_dropped());
  std::filesystem::remove(path);
}

TEST(RunFile, TheRestStaysInMemoryWhenTheDiskIsFull) {
  const std::string path = path_in_temporary_folder("short");
  RunFile file(path, 6);
  {
    const ShortFiles short_files(5);
    file.write(bytes_of("abc"));
    file.write(bytes_of("defg"));
  }
  file.write(bytes_of("hi"));  // room again, but a file has no gaps
  EXPECT_EQ(content_of(path), "abcde");
  EXPECT_EQ(text_of(file.in_memory()), "fghi");
  EXPECT_FALSE(file.problem().empty());
  EXPECT_FALSE(file.has_dropped());
  file.write(bytes_of("jkl"));  // three more than the six that may be kept
  file.write(bytes_of("m"));
  EXPECT_EQ(text_of(file.in_memory()), "fghi");
  EXPECT_TRUE(file.has_dropped());
  std::filesystem::remove(path);
}

TEST(RunFile, ADeviceIsWrittenAndKept) {
  RunFile file("/dev/null", 100);
  file.write(bytes_of("abc"));
  EXPECT_EQ(text_of(file.in_memory()), "abc");
  EXPECT_EQ(file.bytes_in_file(), 0u);
  EXPECT_FALSE(file.can_cut());
  EXPECT_TRUE(file.problem().empty());
}

TEST(RunFile, WhatWasWrittenLastCanBeTakenBack) {
  const std::string path = path_in_temporary_folder("cut");
  RunFile file(path, 100);
  file.write(bytes_of("abcdef"));
  file.cut(4);
  file.write(bytes_of("xy"));
  EXPECT_EQ(content_of(path), "abcdxy");
  {
    const ShortFiles short_files(8);
    file.write(bytes_of("12345"));
  }
  file.cut(9);
  EXPECT_EQ(text_of(file.in_memory()), "3");
  file.cut(7);
  EXPECT_EQ(content_of(path), "abcdxy1");
  EXPECT_EQ(file.size(), 7u);
  std::filesystem::remove(path);
}

TEST(RunFile, AForkedChildLeavesItsParentsFileAlone) {
  const std::string path = path_in_temporary_folder("fork");
  RunFile file(path, 100);
  file.write(bytes_of("abc"));
  const pid_t child = fork();
  if (child == 0) {
    file.write(bytes_of("child"));
    _exit(0);
  }
  waitpid(child, nullptr, 0);
  EXPECT_EQ(content_of(path), "abc");
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace tidemark
