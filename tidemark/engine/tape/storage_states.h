// What each storage is right now, and what an event changes about it.
#pragma once

#include <algorithm>
#include <cstdint>

#include "tidemark/engine/base/prefetch.h"
#include "tidemark/engine/tape/columns.h"

namespace tidemark {

// What can be wrong with an event about a storage. The event is then ignored or mended, never
// fatal.
enum class StorageProblem : std::uint8_t {
  None,
  DoubleFree,     // freed before
  FreeUnknown,    // freed, never born
  AllocTwice,     // born while alive: the old one is taken as freed
  DeadOrUnknown,  // resized, relabelled or used while not alive
  NegativeSize,   // taken as 0
};
inline constexpr std::size_t kStorageProblemCount = 6;

// Kept as two words, of which every copy is made in registers: a processor that reads as a whole
// what was just written member by member waits until the members have reached its cache. All zero
// is a storage that nobody has seen, so that new memory of the system needs no filling.
class StorageState {
 public:
  enum class Life : std::uint8_t { Unseen, Alive, Dead };
  static constexpr std::uint32_t kUnknownSpare = UINT32_MAX;

  StorageState() = default;
  // One that is alive, and of whose block nothing is known.
  StorageState(std::int64_t bytes, Category category, DeviceId device)
      : bytes_(bytes),
        rest_(at(kLifeBit, Life::Alive) | at(kCategoryBit, category) |
              at(kDeviceBit, static_cast<std::uint8_t>(~device.value))) {}

  std::int64_t bytes() const { return bytes_; }
  Category category() const { return static_cast<Category>(part<std::uint8_t>(kCategoryBit)); }
  DeviceId device() const {
    return DeviceId(static_cast<DeviceId::rep>(~part<DeviceId::rep>(kDeviceBit)));
  }
  Life life() const { return static_cast<Life>(part<std::uint8_t>(kLifeBit)); }
  bool alive() const { return life() == Life::Alive; }
  // How much larger its block is than what was asked for, where the tape tells; more than this can
  // hold is taken for the most that it can.
  std::uint32_t spare() const { return ~part<std::uint32_t>(kSpareBit); }

  void set_bytes(std::int64_t bytes) { bytes_ = bytes; }
  void set_category(Category category) { replace(kCategoryBit, category); }
  void set_life(Life life) { replace(kLifeBit, life); }
  void set_spare(std::uint32_t spare) { replace(kSpareBit, ~spare); }

 private:
  // What is unknown at first is kept inverted: zeros.
  static constexpr int kLifeBit = 0, kCategoryBit = 8, kDeviceBit = 16, kSpareBit = 32;
  template <class T>
  static std::uint64_t at(int bit, T value) {
    return static_cast<std::uint64_t>(value) << bit;
  }
  template <class T>
  T part(int bit) const {
    return static_cast<T>(rest_ >> bit);
  }
  template <class T>
  void replace(int bit, T value) {
    rest_ = (rest_ & ~(((std::uint64_t{1} << 8 * sizeof(T)) - 1) << bit)) | at(bit, value);
  }

  std::int64_t bytes_ = 0;
  std::uint64_t rest_ = 0;
};

// Before and after; bytes are 0 where the storage is not alive.
struct StorageChange {
  StorageState before, after;
  StorageProblem problem = StorageProblem::None;
};

class StorageStates {
 public:
  // Applies an event whose subject is a storage.
  StorageChange apply(const Event& e) {
    if (e.subject >= size_) grow(e.subject);
    StorageState& state = states_.data()[e.subject];
    StorageChange change{state, state};
    switch (e.kind) {  // of neighbours alone: a table of jumps would cost a sixth of a replay
      case Kind::Alloc: alloc(change, e); break;
      case Kind::Free: free(change); break;
      case Kind::Resize: resize(change, e); break;
      case Kind::Relabel: relabel(change, e); break;
      default: use_or_block(change, e); break;
    }
    state = change.after;
    return change;
  }

  const StorageState& operator[](StorageId id) const { return states_.data()[id.value]; }
  // Past every storage seen; some before it may be unseen.
  std::size_t size() const { return size_; }
  // Makes room for storages below this number at once.
  void reserve(std::size_t size);
  // Asks the processor to fetch a state that will soon be needed.
  [[gnu::always_inline]] void prefetch(std::uint32_t subject) const {
    if (subject < size_) tidemark::prefetch(states_.data() + subject);
  }

 private:
  static std::int64_t checked_size(StorageChange& change, std::int64_t bytes) {
    if (bytes >= 0) return bytes;
    change.problem = StorageProblem::NegativeSize;
    return 0;
  }
  static void alloc(StorageChange& change, const Event& e) {
    if (change.before.alive()) change.problem = StorageProblem::AllocTwice;
    change.after = {checked_size(change, e.bytes), e.category, e.device};
  }
  static void free(StorageChange& change) {
    if (!change.before.alive()) {
      change.problem = change.before.life() == StorageState::Life::Dead
                           ? StorageProblem::DoubleFree
                           : StorageProblem::FreeUnknown;
      return;
    }
    change.after.set_bytes(0);
    change.after.set_life(StorageState::Life::Dead);
  }
  static void resize(StorageChange& change, const Event& e) {
    if (!use(change)) return;
    change.after.set_bytes(checked_size(change, e.bytes));
    change.after.set_spare(StorageState::kUnknownSpare);  // it is in another block now
  }
  static void relabel(StorageChange& change, const Event& e) {
    if (use(change)) change.after.set_category(e.category);
  }
  // A block has room for what was asked for, whatever the tape says; one of nothing tells nothing.
  static void block(StorageChange& change, const Event& e) {
    if (!use(change)) return;
    const std::int64_t bytes = checked_size(change, e.bytes);
    const std::int64_t spare = std::max<std::int64_t>(bytes - change.after.bytes(), 0);
    const std::int64_t most = StorageState::kUnknownSpare - 1;
    change.after.set_spare(bytes == 0 ? StorageState::kUnknownSpare
                                      : static_cast<std::uint32_t>(std::min(spare, most)));
  }
  static void use_or_block(StorageChange& change, const Event& e) {
    if (e.kind == Kind::Block) block(change, e);
    else use(change);
  }
  static bool use(StorageChange& change) {
    if (!change.before.alive()) change.problem = StorageProblem::DeadOrUnknown;
    return change.before.alive();
  }
  void grow(std::uint32_t subject);

  Column<StorageState> states_;
  std::size_t size_ = 0;
};

}  // namespace tidemark
