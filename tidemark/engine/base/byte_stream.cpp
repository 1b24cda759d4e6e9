// Files through the C library, unbuffered: blocks are large, a second copy would only cost.
#include "tidemark/engine/base/byte_stream.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "tidemark/engine/base/error.h"

namespace tidemark {
namespace {

namespace fs = std::filesystem;

std::string reason() { return std::strerror(errno); }

std::uint64_t size_of_readable(const std::string& path) {
  std::error_code problem;
  const fs::file_status status = fs::status(path, problem);
  if (!fs::exists(status)) throw Error(ErrorCode::NotFound, "no such file", path, "check the path");
  if (fs::is_directory(status))
    throw Error(ErrorCode::Unreadable, "this is a directory", path, "name a file inside it");
  if (!fs::is_regular_file(status))
    throw Error(ErrorCode::Unreadable, "this is not a regular file", path,
                "save it to a file first");
  const auto size = fs::file_size(path, problem);
  if (problem) throw Error(ErrorCode::Unreadable, problem.message(), path);
  return size;
}

}  // namespace

FileSource::FileSource(const std::string& path)
    : file_(nullptr, &std::fclose), path_(path), remaining_(size_of_readable(path)) {
  file_.reset(std::fopen(path.c_str(), "rb"));
  if (!file_) throw Error(ErrorCode::Unreadable, reason(), path);
  std::setvbuf(file_.get(), nullptr, _IONBF, 0);
  if (remaining_ == 0) expect_empty();
}

// Files that the system makes up while they are read say that they have no bytes.
void FileSource::expect_empty() {
  std::byte first{};
  if (read_some(std::span(&first, 1)) > 0)
    throw Error(ErrorCode::Unreadable, "this file does not tell its size", path_,
                "save a copy of it first");
}

std::size_t FileSource::read_some(std::span<std::byte> into) {
  const std::size_t got = std::fread(into.data(), 1, into.size(), file_.get());
  if (got < into.size() && std::ferror(file_.get()))
    throw Error(ErrorCode::Unreadable, "cannot read: " + reason(), path_,
                "is the disk still there?");
  return got;
}

std::size_t FileSource::read(std::span<std::byte> into) {
  const std::size_t wanted = std::min<std::uint64_t>(into.size(), remaining_);
  const std::size_t got = read_some(into.first(wanted));
  remaining_ = got < wanted ? 0 : remaining_ - got;
  return got;
}

FileSink::FileSink(const std::string& path) : file_(nullptr, &std::fclose), path_(path) {
  file_.reset(std::fopen(path.c_str(), "wb"));
  if (!file_)
    throw Error(ErrorCode::Unreadable, "cannot write: " + reason(), path,
                "choose a folder that exists and may be written");
}

void FileSink::write(std::span<const std::byte> bytes) {
  if (std::fwrite(bytes.data(), 1, bytes.size(), file_.get()) != bytes.size())
    throw Error(ErrorCode::Unreadable, "cannot write: " + reason(), path_, "is the disk full?");
}

void FileSink::flush() {
  if (std::fflush(file_.get()) != 0)
    throw Error(ErrorCode::Unreadable, "cannot write: " + reason(), path_, "is the disk full?");
}

std::size_t MemorySource::read(std::span<std::byte> into) {
  const std::size_t taken = std::min(into.size(), bytes_.size());
  if (taken > 0) std::memcpy(into.data(), bytes_.data(), taken);
  bytes_ = bytes_.subspan(taken);
  return taken;
}

void MemorySink::write(std::span<const std::byte> bytes) {
  bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
}

WatchedSource::WatchedSource(ByteSource& inner, Listener listener, void* context)
    : inner_(inner), listener_(listener), context_(context), total_(inner.remaining()) {}

std::size_t WatchedSource::read(std::span<std::byte> into) {
  const std::size_t got = inner_.read(into);
  listener_(total_ - inner_.remaining(), total_, context_);
  return got;
}

}  // namespace tidemark
