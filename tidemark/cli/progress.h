// A line on stderr that tells how far a long read has come; none in a pipe, none for quick reads.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <thread>

namespace tidemark::cli {

// Draws from its own thread, so that the line also lives while nothing is being read.
class ProgressLine {
 public:
  explicit ProgressLine(const std::string& path);

  // A WatchedSource::Listener; the context is the line.
  static void note(std::uint64_t done, std::uint64_t total, void* line);

 private:
  void draw_until(const std::stop_token& stop);
  std::string text() const;

  std::string file_name_;
  std::atomic<std::uint64_t> done_ = 0, total_ = 0;
  std::jthread drawer_;  // last: it must be gone before what it draws
};

}  // namespace tidemark::cli
