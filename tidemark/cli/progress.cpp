// Waits a second, then redraws one line until told to stop, and wipes it.
#include "tidemark/cli/progress.h"

#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <filesystem>
#include <mutex>

#include <fmt/format.h>

#include "tidemark/cli/terminal.h"
#include "tidemark/engine/base/units.h"
#include "tidemark/engine/base/utf8.h"

namespace tidemark::cli {
namespace {

constexpr auto kPatience = std::chrono::seconds(1);
constexpr auto kRedraw = std::chrono::milliseconds(100);

// True when stopped before the time is over.
bool stopped_within(std::chrono::milliseconds time, const std::stop_token& stop) {
  std::mutex mutex;
  std::unique_lock lock(mutex);
  std::condition_variable_any never;
  never.wait_for(lock, stop, time, [] { return false; });
  return stop.stop_requested();
}

std::string cut_to(std::size_t width, const std::string& text) {
  std::string cut = text.substr(0, width);
  return cut.substr(0, utf8_prefix(cut));
}

}  // namespace

ProgressLine::ProgressLine(const std::string& path)
    : file_name_(printable(std::filesystem::path(path).filename().string())) {
  if (isatty(STDERR_FILENO))
    drawer_ = std::jthread([this](const std::stop_token& stop) { draw_until(stop); });
}

void ProgressLine::note(std::uint64_t done, std::uint64_t total, void* line) {
  auto& self = *static_cast<ProgressLine*>(line);
  self.done_ = done;
  self.total_ = total;
}

void ProgressLine::draw_until(const std::stop_token& stop) {
  if (stopped_within(kPatience, stop)) return;
  const std::size_t width = terminal_width(STDERR_FILENO) - 1;
  do {
    fmt::print(stderr, "\r{:<{}}", cut_to(width, text()), width);
    std::fflush(stderr);
  } while (!stopped_within(kRedraw, stop));
  fmt::print(stderr, "\r{:<{}}\r", "", width);
  std::fflush(stderr);
}

std::string ProgressLine::text() const {
  const std::uint64_t done = done_, total = total_;
  const std::string size = format_bytes(static_cast<std::int64_t>(total));
  if (total == 0 || done == total) return fmt::format("sorting out {} ({})", file_name_, size);
  return fmt::format("reading {} ({} % of {})", file_name_, 100 * done / total, size);
}

}  // namespace tidemark::cli
