// A handler that allocates nothing and takes no lock: plain thread-locals, atomics and write().
#include "tidemark/libtorch/phantom/log/faults.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <cstring>
#include <deque>
#include <mutex>
#include <string>

#include "tidemark/libtorch/phantom/log/session.h"

namespace tidemark::phantom {
namespace {

struct Watched {
  int number;
  const char* name;
};
constexpr std::array kWatched = {
    Watched{SIGSEGV, "SIGSEGV (segmentation fault)"}, Watched{SIGBUS, "SIGBUS (bus error)"},
    Watched{SIGFPE, "SIGFPE (arithmetic fault)"}, Watched{SIGILL, "SIGILL (illegal instruction)"},
    Watched{SIGABRT, "SIGABRT (abort)"}};
// The handler has no other way to it.
struct Watch {
  std::array<struct sigaction, kWatched.size()> before;
  bool is_on = false;
};
Watch g_watch;

// Of a program's lines the first ones have a text: those that run operators are few.
constexpr std::size_t kLines = std::size_t{1} << 14;
struct Lines {
  std::array<std::atomic<const char*>, kLines> by_number{};  // what the handler looks at
  std::mutex lock;
  std::deque<std::string> texts;
};
Lines g_lines;

// What fits is written; a message is never longer than a path or two.
class Message {
 public:
  Message& add(const char* text) {
    const std::size_t length = std::min(std::strlen(text), text_.size() - length_);
    std::memcpy(text_.data() + length_, text, length);
    length_ += length;
    return *this;
  }
  void write() const {
    const char* from = text_.data();
    for (std::size_t left = length_; left > 0;) {
      const ssize_t written = ::write(STDERR_FILENO, from, left);
      if (written <= 0) return;
      from += written;
      left -= static_cast<std::size_t>(written);
    }
  }

 private:
  std::array<char, 8192> text_;
  std::size_t length_ = 0;
};

const char* text_of(StackId line) {
  return line && line.value < kLines ? g_lines.by_number[line.value].load() : nullptr;
}

void tell_place(const char* signal) {
  const Whence& here = current_whence();
  const char* line = here.op ? text_of(here.place.stack) : nullptr;
  Message message;
  message.add("tidemark: the process ends by ").add(signal);
  if (here.op) message.add(" in ").add(here.op);
  else message.add(", outside of the virtual GPUs' operators");
  if (line) message.add(", at ").add(line);
  message.add(
      "\n  hint: tensors of a virtual GPU have addresses and no memory: code that reads them by "
      "itself (ctypes, an extension) must be left out of an estimate. If yours has none, please "
      "report these lines\n");
  message.write();
}

void on_fault(int number) {
  for (std::size_t i = 0; i < kWatched.size(); ++i) {
    if (kWatched[i].number != number) continue;
    tell_place(kWatched[i].name);
    ::sigaction(number, &g_watch.before[i], nullptr);
  }
  std::raise(number);
}

bool is_ours(int number) {
  struct sigaction now {};
  return ::sigaction(number, nullptr, &now) == 0 && now.sa_handler == &on_fault;
}

}  // namespace

void watch_faults() {
  if (std::exchange(g_watch.is_on, true)) return;
  struct sigaction ours {};
  ours.sa_handler = &on_fault;
  ours.sa_flags = SA_ONSTACK;
  sigemptyset(&ours.sa_mask);
  for (std::size_t i = 0; i < kWatched.size(); ++i)
    ::sigaction(kWatched[i].number, &ours, &g_watch.before[i]);
}

void unwatch_faults() {
  if (!std::exchange(g_watch.is_on, false)) return;
  // Who came after us stays.
  for (std::size_t i = 0; i < kWatched.size(); ++i)
    if (is_ours(kWatched[i].number)) ::sigaction(kWatched[i].number, &g_watch.before[i], nullptr);
}

void remember_line(StackId id, std::string_view file, std::uint32_t line) {
  if (!id || id.value >= kLines) return;
  std::lock_guard lock(g_lines.lock);
  if (g_lines.by_number[id.value].load()) return;
  g_lines.texts.push_back(std::string(file) + ":" + std::to_string(line));
  g_lines.by_number[id.value] = g_lines.texts.back().c_str();
}

void forget_lines() {
  std::lock_guard lock(g_lines.lock);
  for (auto& line : g_lines.by_number) line = nullptr;
  g_lines.texts.clear();
}

}  // namespace tidemark::phantom
