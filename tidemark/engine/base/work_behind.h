// Work done in its order behind whoever hands it over: in a thread, once there is enough of it.
//
//   caller   take 1 | take 2 | take 3 | take 4 | ...          finish()
//   thread                     do 1   |  do 2  | do 3 | do 4 |
//
// The first piece that fails ends the work: those behind it are dropped, and finish() throws what
// it threw. So a caller sees what he would see if each piece were done before the next is taken.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

namespace tidemark {

template <class Piece>
class WorkBehind {
 public:
  // Sizes are in a unit of the caller's, such as bytes.
  struct Limits {
    std::size_t thread_from = 0;   // with less than this waiting no thread is begun
    std::size_t most_waiting = 0;  // rather than hand over more, the caller waits for the thread
  };

  WorkBehind(std::function<void(Piece&)> work, Limits limits)
      : work_(std::move(work)), limits_(limits) {}
  // What nobody waited for is not done.
  ~WorkBehind() {
    if (!thread_.joinable()) return;
    {
      const std::lock_guard lock(mutex_);
      pieces_.clear();
      is_over_ = true;
    }
    news_.notify_one();
    thread_.join();
  }
  WorkBehind(const WorkBehind&) = delete;
  WorkBehind& operator=(const WorkBehind&) = delete;

  void hand_over(Piece piece, std::size_t size) {
    std::unique_lock lock(mutex_);
    if (thread_.joinable())
      room_.wait(lock, [&] { return waiting_ == 0 || waiting_ + size <= limits_.most_waiting; });
    pieces_.push_back({std::move(piece), size});
    waiting_ += size;
    if (thread_.joinable()) news_.notify_one();
    else if (waiting_ >= limits_.thread_from && !begin_thread()) do_all(lock);
  }

  bool has_failed() const {
    const std::lock_guard lock(mutex_);
    return failure_ != nullptr;
  }

  // Until all that was handed over is done; what was done is then the caller's to look at. More may
  // be handed over afterwards.
  void wait() {
    std::unique_lock lock(mutex_);
    if (!thread_.joinable()) do_all(lock);
    room_.wait(lock, [&] { return waiting_ == 0; });
  }

  void finish() {
    wait();
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  struct Waiting {
    Piece piece;
    std::size_t size;
  };

  // False where the system has no threads, or no more of them.
  bool begin_thread() {
    try {
      thread_ = std::thread([this] { run(); });
    } catch (const std::system_error&) {
      return false;
    }
    return true;
  }

  void run() {
    std::unique_lock lock(mutex_);
    while (true) {
      news_.wait(lock, [&] { return is_over_ || !pieces_.empty(); });
      if (pieces_.empty()) return;
      do_all(lock);
    }
  }

  void do_all(std::unique_lock<std::mutex>& lock) {
    while (!pieces_.empty()) {
      Waiting next = std::move(pieces_.front());
      pieces_.pop_front();
      const bool is_wanted = !failure_;
      lock.unlock();
      std::exception_ptr failure;
      if (is_wanted) failure = failure_of(next.piece);
      lock.lock();
      if (failure) failure_ = failure;
      waiting_ -= next.size;
      room_.notify_one();
    }
  }

  std::exception_ptr failure_of(Piece& piece) const {
    try {
      work_(piece);
      return nullptr;
    } catch (...) {
      return std::current_exception();
    }
  }

  const std::function<void(Piece&)> work_;
  Limits limits_;
  mutable std::mutex mutex_;
  std::condition_variable news_, room_;
  std::deque<Waiting> pieces_;
  std::size_t waiting_ = 0;  // the sizes of what is handed over and not done
  std::exception_ptr failure_;
  bool is_over_ = false;
  std::thread thread_;
};

}  // namespace tidemark
