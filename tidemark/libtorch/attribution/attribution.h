// What every storage is now, by device and category, and the highest moments of windows of time.
//
// Notes of a run come in; rows of bytes come out. A storage that is born inside an
// operator counts when the operator ends, if it is still alive then; what dies before was
// workspace. Where nobody tells of ends, whatever a thread notes outside of operators tells it:
// all of them have ended. Not for several threads at once, and it knows neither torch nor Python.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "tidemark/libtorch/attribution/high_marks.h"
#include "tidemark/libtorch/attribution/listener.h"
#include "tidemark/libtorch/attribution/note.h"
#include "tidemark/libtorch/attribution/row.h"
#include "tidemark/libtorch/attribution/rules.h"
#include "tidemark/libtorch/attribution/thread_work.h"
#include "tidemark/libtorch/attribution/window.h"

namespace tidemark::attribution {

// What each device rounds requests up to; 0 for exact bytes. Grows while it is read.
using Granularities = std::array<std::atomic<std::int64_t>, 256>;

class Attribution {
 public:
  // `granularities` and `scheme` outlive the object.
  explicit Attribution(Rules rules = {}, const Granularities* granularities = nullptr,
                       const Scheme& scheme = kMemTracker)
      : rules_(rules), granularities_(granularities), scheme_(scheme) {}

  void take(const Note& note);
  // No more births; deaths are still followed.
  void accept_births(bool accept) { accepts_births_ = accept; }
  void count_at_birth(bool at_birth) { rules_.count_at_birth = at_birth; }
  void set_listener(Listener* listener) { listener_ = listener; }

  // Makes a storage known under this category, whatever it was before.
  void label(StorageKey key, std::int64_t bytes, std::uint8_t device, Category category);
  // The same of a storage that is known; any other is left alone.
  void relabel(StorageKey key, Category category);
  // The same storage, in other memory: born at this note, it stays what it was. The death of the
  // old memory is noted apart.
  void moved(StorageKey old, const Note& note);
  // A module is called from outside of all others with this storage, which no gradient was recorded
  // for: what was made for it alone is the program's input.
  void take_input(StorageKey key);
  // Autograd works on this storage as it gives a leaf its gradient: it is one, unless it is known
  // to be for talking to other ranks, which happens there, too. That of a parameter that was put
  // together from its shards is to be split again.
  void take_gradient(StorageKey key, StorageKey leaf = 0);
  // The same storage has another size now.
  void set_bytes(StorageKey key, std::int64_t bytes);
  // Of a storage that counts; else nothing.
  std::optional<Category> category_of(StorageKey key) const;
  std::optional<std::int64_t> bytes_of(StorageKey key) const;
  std::uint8_t device_of(StorageKey key) const;
  // As listeners know it, whether it counts or not; nothing if it is not known.
  std::optional<StorageNumber> number_of(StorageKey key) const;

  // What a thread does; whoever changes it has settled what was made before.
  ThreadWork& work(std::uint32_t thread) { return this->thread(thread).work; }
  Phase phase_now(std::uint32_t thread, std::uint8_t flags) {
    return phase_now(this->thread(thread), flags);
  }
  void begin_step() { has_steps_ = true; }
  void begin_optimizer(std::uint32_t thread);
  void end_optimizer(std::uint32_t thread);
  // Whether something that was born since the last begin_optimizer() is alive.
  bool has_born_in_optimizer() const { return born_in_optimizer_ > 0; }

  // This thread, or every one, is outside operators: what those have left behind counts.
  void leave_operators(std::uint32_t thread);
  void leave_all_operators();
  // Likewise, and so does what was made outside.
  void settle(std::uint32_t thread);
  // Looks whether this moment is a peak; operators do that when they end.
  void sample(bool in_backward);
  const Scheme& scheme() const { return scheme_; }
  const Rows& current() const { return now_; }
  const Rows& peak() const { return peak_; }
  void reset_peak() { peak_ = now_; }

  Window open_window(bool in_backward);
  void reopen(Window& window);
  void fold(Window& window);  // takes in what was highest up to now
  void close(Window& window);

  std::size_t storage_count() const { return index_.size(); }
  struct Live {
    std::int64_t bytes;
    std::uint8_t device;
    Category category;
  };
  std::vector<Live> live() const;

 private:
  enum class State : std::uint8_t { Free, Inside, Outside, OutsideOnce, Counted };
  struct Storage {
    StorageKey key = 0;
    std::int64_t bytes = 0;                 // as the device's allocator accounts them
    std::int64_t moment = 0;                // the sample at which it began to count
    Category category = Category::Unknown;  // before it counts: what it will be in any case
    State state = State::Free;
    std::uint8_t device = 0;
    std::uint8_t flags = 0;  // of its birth, until it counts
    bool is_output = false;
    bool is_of_module = false;         // it was born inside one
    std::uint32_t optimizer_step = 0;  // the last that had begun at its birth
  };
  struct Former {  // what a storage was before it was resized
    Category category;
    std::uint8_t device;
  };
  struct Resize {
    StorageKey storage = 0;  // the object, not its memory
    std::optional<Former> former;
  };
  struct Thread {
    std::vector<StorageNumber> inside, outside;  // born, not yet counted
    ThreadWork work;
    bool is_engine = true;  // nothing was born here but in backwards
    Resize resize;          // the last that began here
  };

  Thread& thread(std::uint32_t number) {
    if (threads_.size() <= number) [[unlikely]]
      threads_.resize(number + 1);
    return threads_[number];
  }
  void unlist(StorageNumber number, std::uint32_t likely_thread);
  void settle_elsewhere(StorageNumber number);
  void settle_other_side(const Thread& here);
  void born(const Note& note);
  void count_now(StorageNumber number, const Note& note, Category category);
  void died(const Note& note);
  void hand_on(Category category, Thread& thread);
  void take_block(const Note& note);
  void output(const Note& note);
  void made(const Note& note);
  void resizing(const Note& note);
  void resized(const Note& note);
  void operator_ended(const Note& note);
  void settle_inside(Thread& thread);
  void age_outside(Thread& thread, std::uint8_t flags);
  void settle_outside(Thread& thread);
  Phase phase_now(const Thread& thread, std::uint8_t flags) const {
    return thread.work.phase(flags, rules_, has_steps_);
  }
  Category category_now(const Thread& thread, std::uint8_t flags) const {
    return thread.work.category(flags, rules_, has_steps_);
  }
  // What the storage is once it counts.
  Category category_of(const Storage& storage, const Thread& thread, std::uint8_t flags) const {
    return storage.category != Category::Unknown ? storage.category : category_now(thread, flags);
  }
  void correct_peak(const Storage& storage);

  StorageNumber add_storage(StorageKey key, std::int64_t bytes, std::uint8_t device);
  void count(StorageNumber number, Category category);
  void forget(StorageNumber number);
  void rise(std::uint8_t device);
  Row& row(std::uint8_t device) {
    if (now_.size() <= device) [[unlikely]]
      add_device(device);
    return now_[device];
  }
  void add_device(std::uint8_t device);
  std::int64_t accounted(std::int64_t bytes, std::uint8_t device) const;

  Rules rules_;
  const Granularities* granularities_;
  const Scheme& scheme_;
  Listener* listener_ = nullptr;
  bool accepts_births_ = true, has_steps_ = false;
  KeyIndex index_;
  std::vector<Storage> storages_;
  std::vector<StorageNumber> free_;
  std::vector<Thread> threads_;                     // by number
  std::unordered_map<StorageKey, Former> emptied_;  // storages without memory

  Rows now_, peak_;
  std::vector<std::int64_t> peak_moment_;
  std::int64_t optimizer_since_ = 0;
  std::uint32_t optimizer_steps_ = 0;   // that have begun
  std::int64_t born_in_optimizer_ = 0;  // since the last began, and alive
  std::int64_t moment_ = 0;
  std::array<std::vector<HighMarks>, 2> marks_;  // forward, backward: one per device
  std::array<std::uint64_t, 2> risen_{};         // devices that grew since the last sample
  int open_windows_ = 0;
};

}  // namespace tidemark::attribution
