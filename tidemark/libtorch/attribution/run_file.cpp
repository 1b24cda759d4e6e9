// Bytes to a descriptor, and to memory once that fails.
#include "tidemark/libtorch/attribution/run_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "tidemark/engine/base/error.h"

namespace tidemark {

RunFile::RunFile(const std::string& path, std::size_t most_in_memory)
    : descriptor_(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)),
      process_(::getpid()),
      most_in_memory_(most_in_memory) {
  if (descriptor_ < 0)
    throw Error(ErrorCode::Unreadable, std::string("cannot write: ") + std::strerror(errno), path,
                "choose a folder that exists and may be written");
  struct stat status {};
  is_regular_ = ::fstat(descriptor_, &status) == 0 && S_ISREG(status.st_mode);
}

RunFile::~RunFile() { ::close(descriptor_); }

void RunFile::write(std::span<const std::byte> bytes) {
  if (::getpid() != process_) return;
  const std::size_t written = problem_.empty() ? write_some(bytes) : 0;
  if (is_regular_) in_file_ += written;
  keep(is_regular_ ? bytes.subspan(written) : bytes);
}

std::size_t RunFile::write_some(std::span<const std::byte> bytes) {
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t written = ::write(descriptor_, bytes.data() + done, bytes.size() - done);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) {
      problem_ = std::strerror(errno);
      break;
    }
    done += static_cast<std::size_t>(written);
  }
  return done;
}

// What is kept has no gaps: after the first bytes that are dropped, all are.
void RunFile::keep(std::span<const std::byte> bytes) {
  has_dropped_ |= in_memory_.size() + bytes.size() > most_in_memory_;
  if (!has_dropped_) in_memory_.insert(in_memory_.end(), bytes.begin(), bytes.end());
}

void RunFile::cut(std::uint64_t size) {
  if (::getpid() != process_) return;
  if (size >= in_file_) {
    if (size - in_file_ < in_memory_.size()) in_memory_.resize(size - in_file_);
    return;
  }
  in_memory_.clear();
  const auto end = static_cast<off_t>(size);
  if (::ftruncate(descriptor_, end) != 0 || ::lseek(descriptor_, end, SEEK_SET) != end)
    problem_ = std::strerror(errno);
  in_file_ = size;
}

}  // namespace tidemark
