// What a GPU's allocator counts, read at its events: how large each block is, and its high marks.
//
// The allocator tells of a birth before it has counted it, and of a death after. So the block of
// a birth is what the sum of all births has grown by when the next event comes:
//
//   event    birth a        birth b        death a
//   sum      0              0 + a          a + b
//   known                   block of a     block of b
//
// Events come one at a time, under the allocator's lock; anybody may look at the last birth.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <optional>

#include "tidemark/engine/base/rounding.h"
#include "tidemark/libtorch/attribution/key_index.h"

namespace tidemark::recorder {

// What an allocator has counted up to an event, in bytes of blocks.
struct Counted {
  std::int64_t born = 0;  // all births so far
  std::int64_t allocated = 0, reserved = 0;
};

// The last birth, as the sums show it.
struct Block {
  attribution::StorageKey key = 0;
  std::int64_t requested = 0, bytes = 0;
  std::int64_t allocated = 0;  // on the device, with this block

  bool is_as_rounded() const { return bytes == rounded_up(requested, kCudaGranularity); }
};

class BlockMarks {
 public:
  // Whether the last birth waits for what it has added to the sum.
  bool is_waiting() const { return waits_.load(std::memory_order_acquire); }
  // Odd while the last birth is being written down; another number for each.
  std::uint64_t turn() const { return turn_.load(std::memory_order_acquire); }

  // A birth, with what was counted before it.
  void begin(attribution::StorageKey key, std::int64_t requested, const Counted& before) {
    turn_.fetch_add(1, std::memory_order_acq_rel);
    key_.store(key, std::memory_order_relaxed);
    requested_.store(requested, std::memory_order_relaxed);
    born_.store(before.born, std::memory_order_relaxed);
    allocated_.store(before.allocated, std::memory_order_relaxed);
    waits_.store(true, std::memory_order_relaxed);
    turn_.fetch_add(1, std::memory_order_release);
    raise(highest_reserved_, before.reserved);
  }
  // The block of the last birth; none where the program has set the sums back meanwhile.
  std::optional<Block> last(const Counted& now) const {
    Block block{key_.load(std::memory_order_relaxed), requested_.load(std::memory_order_relaxed)};
    block.bytes = now.born - born_.load(std::memory_order_relaxed);
    block.allocated = allocated_.load(std::memory_order_relaxed) + block.bytes;
    std::atomic_thread_fence(std::memory_order_acquire);
    if (block.bytes < block.requested) return std::nullopt;
    return block;
  }
  void mark(const Block& block) { raise(highest_allocated_, block.allocated); }
  // The same, and it waits no more.
  std::optional<Block> settle(const Counted& now) {
    const std::optional<Block> block = last(now);
    if (block) mark(*block);
    turn_.fetch_add(2, std::memory_order_acq_rel);
    waits_.store(false, std::memory_order_release);
    return block;
  }
  void forget() { waits_.store(false, std::memory_order_release); }

  // The highest since the last restart; what was there then counts.
  std::int64_t highest_allocated() const { return highest_allocated_; }
  std::int64_t highest_reserved() const { return highest_reserved_; }
  void restart(const Counted& now) {
    highest_allocated_ = now.allocated;
    highest_reserved_ = now.reserved;
  }

 private:
  static void raise(std::atomic<std::int64_t>& mark, std::int64_t bytes) {
    std::int64_t known = mark.load(std::memory_order_relaxed);
    while (known < bytes && !mark.compare_exchange_weak(known, bytes, std::memory_order_relaxed)) {
    }
  }

  std::atomic<std::uint64_t> turn_{0};
  std::atomic<bool> waits_{false};
  std::atomic<attribution::StorageKey> key_{0};
  std::atomic<std::int64_t> requested_{0}, born_{0}, allocated_{0};
  std::atomic<std::int64_t> highest_allocated_{0}, highest_reserved_{0};
};

}  // namespace tidemark::recorder
