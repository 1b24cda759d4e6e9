// A temporary file, then a rename.
#include "tidemark/cli/output_file.h"

#include <unistd.h>

#include <filesystem>
#include <system_error>

#include <fmt/format.h>

#include "tidemark/engine/base/error.h"

namespace tidemark::cli {
namespace {

namespace fs = std::filesystem;

// Removes the file unless it was given its final name.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& beside)
      : path_(fmt::format("{}.{}.tmp", beside, getpid())) {}
  ~TemporaryFile() {
    std::error_code nobody_to_tell;
    if (!path_.empty()) fs::remove(path_, nobody_to_tell);
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  const std::string& path() const { return path_; }
  void rename_to(const std::string& path) {
    fs::rename(path_, path);
    path_.clear();
  }

 private:
  std::string path_;
};

}  // namespace

std::uint64_t write_whole_file(const std::string& path,
                               const std::function<void(ByteSink&)>& write) {
  try {
    TemporaryFile temporary(path);
    {
      FileSink sink(temporary.path());
      write(sink);
    }
    const std::uint64_t size = fs::file_size(temporary.path());
    temporary.rename_to(path);
    return size;
  } catch (const Error& error) {
    throw Error(error.code(), error.message(), path, error.hint());
  } catch (const fs::filesystem_error& error) {
    throw Error(ErrorCode::Unreadable, "cannot write: " + error.code().message(), path,
                "choose a name that may be written");
  }
}

}  // namespace tidemark::cli
