// The file that a run is written to as it goes; what a full disk does not take stays in memory.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "tidemark/engine/base/byte_stream.h"

namespace tidemark {

// Whatever the disk does, writing never throws: the program that is followed goes on.
class RunFile final : public ByteSink {
 public:
  // Throws Error where the file cannot be made. Of what the file does not take, or does not give
  // back (a pipe), at most this many bytes are kept.
  RunFile(const std::string& path, std::size_t most_in_memory);
  ~RunFile() override;
  RunFile(const RunFile&) = delete;
  RunFile& operator=(const RunFile&) = delete;

  void write(std::span<const std::byte> bytes) override;
  void flush() override {}

  // Why the file could not be written any more; empty while it can.
  const std::string& problem() const { return problem_; }
  // All that was written are the file's first bytes, and these; unless some had to be dropped.
  std::uint64_t bytes_in_file() const { return in_file_; }
  const std::vector<std::byte>& in_memory() const { return in_memory_; }
  bool has_dropped() const { return has_dropped_; }

  // Takes back everything after so many bytes: only of a regular file.
  bool can_cut() const { return is_regular_; }
  void cut(std::uint64_t size);
  std::uint64_t size() const { return in_file_ + in_memory_.size(); }

 private:
  void keep(std::span<const std::byte> bytes);
  std::size_t write_some(std::span<const std::byte> bytes);

  int descriptor_;
  bool is_regular_ = false, has_dropped_ = false;
  pid_t process_;  // a forked child has the file open, too, and must not write
  std::size_t most_in_memory_;
  std::uint64_t in_file_ = 0;
  std::vector<std::byte> in_memory_;
  std::string problem_;
};

}  // namespace tidemark
