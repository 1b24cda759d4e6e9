// A ring buffer that many threads write without a lock and one reader at a time empties.
//
// Each cell carries the number of the turn it is in. A writer takes the next number, fills the
// cell and raises the cell's turn; the reader takes cells whose turn is complete. Who finds the
// ring full does not wait: the entry is dropped and counted.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace tidemark::recorder {

template <class Entry>
class Ring {
 public:
  // `capacity` is a power of two.
  explicit Ring(std::size_t capacity) : mask_(capacity - 1), cells_(new Cell[capacity]) {
    for (std::size_t i = 0; i < capacity; ++i) cells_[i].turn.store(i, std::memory_order_relaxed);
  }

  // False if the ring was full and the entry is lost.
  bool push(const Entry& entry) noexcept {
    std::uint64_t at = head_.load(std::memory_order_relaxed);
    for (;;) {
      Cell& cell = cells_[at & mask_];
      const std::uint64_t turn = cell.turn.load(std::memory_order_acquire);
      if (turn == at) {
        if (!head_.compare_exchange_weak(at, at + 1, std::memory_order_relaxed)) continue;
        // The ring is larger than the caches: the next writers must not wait for their cells.
        __builtin_prefetch(&cells_[(at + kAhead) & mask_], 1);
        cell.entry = entry;
        cell.turn.store(at + 1, std::memory_order_release);
        return true;
      }
      if (turn < at) {
        dropped_.fetch_add(1, std::memory_order_relaxed);
        return false;
      }
      at = head_.load(std::memory_order_relaxed);
    }
  }

  // Only one thread at a time may read.
  bool pop(Entry& entry) noexcept {
    const std::uint64_t at = tail_.load(std::memory_order_relaxed);
    Cell& cell = cells_[at & mask_];
    if (cell.turn.load(std::memory_order_acquire) != at + 1) return false;
    entry = cell.entry;
    cell.turn.store(at + mask_ + 1, std::memory_order_release);
    tail_.store(at + 1, std::memory_order_relaxed);
    return true;
  }

  // Makes it as new. Nobody else may read or write, nor be in the midst of it.
  void clear() noexcept {
    if (head_ == 0) return;
    for (std::size_t i = 0; i <= mask_; ++i) cells_[i].turn.store(i, std::memory_order_relaxed);
    head_ = tail_ = dropped_ = 0;
  }

  // About right while others write.
  std::size_t size() const noexcept {
    return static_cast<std::size_t>(head_.load(std::memory_order_relaxed) -
                                    tail_.load(std::memory_order_relaxed));
  }
  // How many entries were put in so far, some of which their writers are still filling in; and
  // whether the reader is past so many.
  std::uint64_t pushed() const noexcept { return head_.load(std::memory_order_relaxed); }
  bool has_read(std::uint64_t count) const noexcept {
    return tail_.load(std::memory_order_relaxed) >= count;
  }
  std::size_t capacity() const noexcept { return mask_ + 1; }
  std::uint64_t dropped() const noexcept { return dropped_.load(std::memory_order_relaxed); }

 private:
  struct Cell {
    std::atomic<std::uint64_t> turn;
    Entry entry;
  };

  static constexpr std::uint64_t kAhead = 8;
  const std::uint64_t mask_;
  std::unique_ptr<Cell[]> cells_;
  alignas(64) std::atomic<std::uint64_t> head_{0};
  alignas(64) std::atomic<std::uint64_t> tail_{0};
  std::atomic<std::uint64_t> dropped_{0};
};

}  // namespace tidemark::recorder
