// The one recorder of the process: allocators and operators write notes, trackers hear them.
//
// Writers never wait: notes go through a ring buffer. Whoever asks something, or finds many of them
// outside an allocator's callback, empties it into every attached NoteTaker under the recorder's
// lock. Notes that wait until there are many are understood faster than one by one.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "tidemark/libtorch/attribution/attribution.h"
#include "tidemark/libtorch/attribution/clock.h"
#include "tidemark/libtorch/attribution/note.h"
#include "tidemark/libtorch/recorder/forks.h"
#include "tidemark/libtorch/recorder/origins.h"
#include "tidemark/libtorch/recorder/ring.h"

namespace tidemark::recorder {

using attribution::Note;
using attribution::NoteKind;
using attribution::StorageKey;

// What a thread is doing; only the thread itself touches it.
struct ThreadState {
  std::uint32_t id = 0;
  int operator_depth = 0;      // operators of the program and those inside them, as records tell
  int marked_kernels = 0;      // kernels under way that mark_operators put there
  bool has_news = false;       // notes since the operator began
  bool resizes = false;        // the operator gives storages new sizes
  int outside_news = 0;        // operators that must end until outside births are settled
  bool in_python = false;      // the operator was called where a wrapper of tensors is taken apart
  bool is_pretending = false;  // inside an operator of a fake mode that nobody tracks
  bool inside_by_state = false;  // the last note was written inside an operator, by the state
  bool is_unrecorded = false;    // so it was when records took over: of that operator there is none
  Origin origin;                 // of what it makes now, where somebody wants to know
  Origin told_origin;            // the last one that was noted
  std::uint32_t told_since = 0;  // for those who have started since
  std::uint32_t awaited_step = 0;    // the last await_step() this thread has looked for
  std::uint64_t autograd_nodes = 0;  // that it had made until then
};
// Found by one instruction: it is asked for several times an operator.
[[gnu::tls_model("initial-exec")]] extern constinit thread_local ThreadState t_state;
void give_number(ThreadState& thread) noexcept;
inline ThreadState& this_thread() noexcept {
  if (t_state.id == 0) [[unlikely]]
    give_number(t_state);
  return t_state;
}

// Who hears all notes and those for it alone, under the recorder's lock. In a forked child it is
// the parent's, and hears nothing.
class NoteTaker {
 public:
  virtual ~NoteTaker() = default;
  bool is_orphan() const { return is_orphan_; }
  // After an error of ours it hears nothing more; the program goes on. The first reason is kept.
  void give_up(const char* why) noexcept;
  bool has_given_up() const noexcept { return has_given_up_.load(std::memory_order_relaxed); }
  std::string why_given_up() const;
  virtual void take(const Note& note) = 0;
  virtual void run_out_of_memory(std::int64_t wanted, const std::string& device) = 0;

 private:
  friend class Recorder;
  std::uint8_t number_ = 0;  // as notes name it; 0 if there were too many at once
  bool is_orphan_ = false;
  std::atomic<bool> has_given_up_{false};
  mutable std::mutex why_lock_;
  std::string why_;
};

class Recorder {
 public:
  static Recorder& instance() noexcept { return *the_one_; }

  // From allocators, on any thread, at any time. Never throws, waits or allocates.
  // A caller that holds an allocator's lock says so: the ring is then never emptied here.
  enum Caller : bool { kHoldsNothing, kHoldsLock };
  void note_birth(StorageKey key, std::int64_t bytes, std::uint8_t device,
                  Caller caller = kHoldsNothing, std::uint8_t more_flags = 0) noexcept;
  void note_death(StorageKey key, Caller caller = kHoldsNothing) noexcept;
  void note(const Note& note, Caller caller) noexcept;
  void note_output(StorageKey key, std::int64_t bytes, std::uint8_t device) noexcept;
  void note_made(StorageKey key, std::int64_t bytes, std::uint8_t device) noexcept;
  // The operator that ends has made this storage and returns it as this call says.
  void note_shape(StorageKey key, CallId call) noexcept;
  void note_operator_end(std::uint8_t more_flags, Caller caller = kHoldsNothing) noexcept;
  // Outside of operators: this storage object, in this memory, is about to get other memory; the
  // same thread's last one has got this; an object that was left without any is gone.
  void note_resizing(StorageKey memory, StorageKey storage) noexcept;
  void note_resized(StorageKey memory, std::int64_t bytes) noexcept;
  void note_forgotten(StorageKey storage) noexcept;
  // Records have taken over from the state: has the thread left the operator it was in by then?
  void catch_up(ThreadState& thread, bool begins_operator, Caller caller = kHoldsNothing) noexcept;
  // An allocator has failed; outside its locks.
  void note_out_of_memory(std::int64_t wanted, const std::string& device) noexcept;
  // True while somebody wants births.
  bool wants_outputs() const noexcept { return output_starts_.load(std::memory_order_relaxed) > 0; }
  // True while somebody wants to know which line and which operator makes what.
  bool wants_origins() const noexcept { return origin_starts_.load(std::memory_order_relaxed) > 0; }
  // True while somebody hears of deaths.
  bool is_listening() const noexcept { return listening_.load(std::memory_order_relaxed); }
  // True while somebody counts whole blocks of CUDA's allocator.
  bool wants_blocks() const noexcept { return block_starts_.load(std::memory_order_relaxed) > 0; }
  bool is_recording() const noexcept { return recording_.load(std::memory_order_relaxed); }

  // The next operator on this thread that records gradients is noted as StepBegan, or the next but
  // one on another.
  void await_step() noexcept;
  // A module is called that records gradients.
  void begin_step() noexcept;

  void attach(NoteTaker* taker);
  void detach(NoteTaker* taker);
  // A note of what this thread does now, and one like it told to one taker. It is never lost.
  Note here(NoteKind kind, Caller caller = kHoldsNothing) noexcept;
  void tell(NoteTaker& taker, Note note) noexcept;
  // What a tracker needs beside births and deaths.
  struct Wanted {
    bool operators = false;  // whether it happened inside one of the program
    bool outputs = false;    // and what they return, on which device
    bool times = false;
    bool origins = false;  // the line and the operator of every birth, and the shape of results
    bool blocks = false;   // how large the allocator's blocks are
  };
  // Births are followed while at least one start is without its stop. A start that throws is none.
  void start(const Wanted& wanted);
  void stop(const Wanted& wanted) noexcept;

  // The recorder's lock, with every note so far handed on. Hold it to talk to a NoteTaker.
  class Quiet {
   public:
    Quiet() : lock_(instance().lock_) { instance().hear_all(); }

   private:
    std::unique_lock<std::mutex> lock_;
  };

  // Somebody made storages known outside operators: the next one must look for a peak.
  void want_sample() noexcept { wants_sample_.store(true, std::memory_order_relaxed); }
  std::uint64_t dropped() const { return ring_.dropped(); }
  std::uint64_t noted() const { return noted_; }
  // Under all locks, while nobody else is there.
  void forget_in_child();

  // Devices by number, for all trackers of the process.
  std::uint8_t device_number(const std::string& name);
  std::string device_name(std::uint8_t number);
  const attribution::Granularities* granularities() const { return &granularities_; }

 private:
  Recorder() : ring_(1 << 14) {}
  static Recorder* const the_one_;  // never destroyed: storages outlive every static object
  bool push(const Note& note, Caller caller = kHoldsNothing) noexcept;  // false if it is lost
  void drain() noexcept;
  void drain_all() noexcept;
  void hear_all() noexcept;
  static void hand(NoteTaker& taker, const Note& note) noexcept;
  void count(const Wanted& wanted, int change) noexcept;
  bool drain_if_free() noexcept;
  void drain_many() noexcept;
  void make_room() noexcept;
  // How operators are followed: places.cpp.
  std::uint8_t place(ThreadState& thread, Caller caller) noexcept;  // flags of a note written now
  void check_state(Caller caller) noexcept;
  void follow_operators();
  void follow_records() noexcept;
  void tell_origin(ThreadState& thread, Caller caller) noexcept;
  void look_for_step(ThreadState& thread, Caller caller) noexcept;

  Ring<Note> ring_;
  std::atomic<bool> awaits_step_{false};
  std::atomic<std::uint32_t> awaited_steps_{0};
  std::atomic<bool> recording_{false}, listening_{false}, wants_sample_{false}, times_{false};
  // Borders are known from the state of dispatch alone; it was seen not to tell them; and records
  // do since then.
  std::atomic<bool> reads_state_{false}, state_fails_{false}, needs_records_{false};
  ForkSafeMutex lock_{LockPlace::Notes};
  std::vector<NoteTaker*> takers_;
  ForkSafeMutex starts_lock_{LockPlace::Starts};
  int starts_ = 0, operator_starts_ = 0, time_starts_ = 0;
  std::atomic<int> output_starts_{0}, origin_starts_{0}, block_starts_{0};
  std::atomic<std::uint32_t> starts_so_far_{0};
  std::atomic<std::uint64_t> noted_{0};
  ForkSafeMutex devices_lock_{LockPlace::Devices};
  std::vector<std::string> devices_;
  attribution::Granularities granularities_{};
};

}  // namespace tidemark::recorder
