// Notes in without a lock, out to the attributions under one.
#include "tidemark/libtorch/recorder/recorder.h"

#include <ATen/SequenceNumber.h>
#include <ATen/core/grad_mode.h>
#include <torch/csrc/autograd/graph_task.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <thread>

#include "tidemark/engine/base/rounding.h"
#include "tidemark/libtorch/recorder/allocators.h"
#include "tidemark/libtorch/recorder/cuda_trace.h"
#include "tidemark/libtorch/recorder/dispatch_state.h"

namespace tidemark::recorder {

using namespace attribution;

constinit thread_local ThreadState t_state;

void give_number(ThreadState& thread) noexcept {
  static std::atomic<std::uint32_t> next{1};
  thread.id = next.fetch_add(1, std::memory_order_relaxed);
}

Recorder* const Recorder::the_one_ = new Recorder();

Note Recorder::here(NoteKind kind, Caller caller) noexcept {
  ThreadState& thread = this_thread();
  Note note;
  note.kind = kind;
  note.thread = thread.id;
  if (times_.load(std::memory_order_relaxed)) note.time_ns = attribution::now_ns();
  note.flags = place(thread, caller);
  return note;
}

bool Recorder::push(const Note& note, Caller caller) noexcept {
  if (caller == kHoldsNothing) make_room();
  return ring_.push(note);
}

// How often a thread looks again before it goes on without what another thread is about to do.
constexpr int kPatience = 100'000;

// Whoever holds no lock waits a while for room instead of losing a note; but not forever, since
// the one who empties the ring may wait for this thread.
void Recorder::make_room() noexcept {
  for (int i = 0; i < kPatience && ring_.size() > ring_.capacity() / 4 * 3; ++i)
    if (!drain_if_free()) std::this_thread::yield();
}

void Recorder::note_birth(StorageKey key, std::int64_t bytes, std::uint8_t device, Caller caller,
                          std::uint8_t more_flags) noexcept {
  ThreadState& thread = this_thread();
  if (thread.is_pretending) return;
  if (awaits_step_.load(std::memory_order_relaxed)) [[unlikely]]
    look_for_step(thread, caller);
  if (wants_origins()) [[unlikely]]
    tell_origin(thread, caller);
  Note note = here(NoteKind::Born, caller);
  check_state(caller);
  if (note.has(kInsideOperator)) thread.has_news = true;
  else thread.outside_news = 2;
  if (torch::autograd::get_current_graph_task_id() != -1) note.flags |= kInBackward;
  if (at::GradMode::is_enabled()) note.flags |= kGradMode;
  note.flags |= more_flags;
  note.key = key;
  note.bytes = bytes;
  note.device = device;
  push(note, caller);
}

void Recorder::note(const Note& note, Caller caller) noexcept { push(note, caller); }

// Births tell it where it has changed: it is in no note of their own.
void Recorder::tell_origin(ThreadState& thread, Caller caller) noexcept {
  const std::uint32_t since = starts_so_far_.load(std::memory_order_relaxed);
  if (thread.origin == thread.told_origin && thread.told_since == since) return;
  Note note = here(NoteKind::From, caller);
  note.key = thread.origin.line.value;
  note.bytes = thread.origin.call.value;
  if (!push(note, caller)) return;
  thread.told_origin = thread.origin;
  thread.told_since = since;
}

void Recorder::await_step() noexcept {
  ThreadState& thread = this_thread();
  thread.awaited_step = awaited_steps_.fetch_add(1) + 1;
  thread.autograd_nodes = at::sequence_number::peek();
  awaits_step_ = true;
}

void Recorder::begin_step() noexcept {
  if (awaits_step_.load(std::memory_order_relaxed) && awaits_step_.exchange(false))
    push(here(NoteKind::StepBegan));
}

// Autograd numbers a thread's nodes as it makes them, and makes an operator's before it calls the
// kernel: so the first birth after a new node is that of an operator that records.
void Recorder::look_for_step(ThreadState& thread, Caller caller) noexcept {
  const std::uint64_t nodes = at::sequence_number::peek();
  const bool is_known = thread.awaited_step == awaited_steps_.load(std::memory_order_relaxed);
  const bool in_backward = torch::autograd::get_current_graph_task_id() != -1;
  const bool records = is_known && !in_backward && nodes != thread.autograd_nodes;
  thread.awaited_step = awaited_steps_.load(std::memory_order_relaxed);
  thread.autograd_nodes = nodes;
  if (records && awaits_step_.exchange(false)) push(here(NoteKind::StepBegan, caller), caller);
}

void Recorder::note_death(StorageKey key, Caller caller) noexcept {
  if (!listening_.load(std::memory_order_relaxed)) return;
  ThreadState& thread = this_thread();
  if (thread.resizes) thread.has_news = true;
  Note note = here(NoteKind::Died, caller);
  note.key = key;
  push(note, caller);
}

void Recorder::note_output(StorageKey key, std::int64_t bytes, std::uint8_t device) noexcept {
  if (!listening_.load(std::memory_order_relaxed)) return;
  Note note = here(NoteKind::Output);
  note.key = key;
  note.bytes = bytes;
  note.device = device;
  push(note);
}

void Recorder::note_made(StorageKey key, std::int64_t bytes, std::uint8_t device) noexcept {
  Note note = here(NoteKind::Made);
  if (torch::autograd::get_current_graph_task_id() != -1) note.flags |= kInBackward;
  if (at::GradMode::is_enabled()) note.flags |= kGradMode;
  note.key = key;
  note.bytes = bytes;
  note.device = device;
  push(note);
}

void Recorder::note_shape(StorageKey key, CallId call) noexcept {
  Note note = here(NoteKind::Shaped);
  note.key = key;
  note.bytes = call.value;
  push(note);
}

void Recorder::note_resizing(StorageKey memory, StorageKey storage) noexcept {
  Note note = here(NoteKind::Resizing);
  note.key = memory;
  note.bytes = static_cast<std::int64_t>(storage);
  push(note);
}

void Recorder::note_resized(StorageKey memory, std::int64_t bytes) noexcept {
  Note note = here(NoteKind::Resized);
  if (torch::autograd::get_current_graph_task_id() != -1) note.flags |= kInBackward;
  note.key = memory;
  note.bytes = bytes;
  push(note);
}

void Recorder::note_forgotten(StorageKey storage) noexcept {
  Note note = here(NoteKind::Forgotten);
  note.key = storage;
  push(note);
}

void Recorder::note_operator_end(std::uint8_t more_flags, Caller caller) noexcept {
  ThreadState& thread = this_thread();
  const bool wanted = wants_sample_.load(std::memory_order_relaxed);
  if (!thread.has_news && thread.outside_news == 0 && !wanted) return;
  if (wanted) wants_sample_.store(false, std::memory_order_relaxed);
  if (thread.outside_news > 0) --thread.outside_news;
  thread.has_news = false;
  Note note = here(NoteKind::OperatorEnded, caller);
  note.flags |= more_flags;
  if (torch::autograd::get_current_graph_task_id() != -1) note.flags |= kInBackward;
  if (at::GradMode::is_enabled()) note.flags |= kGradMode;
  push(note, caller);
  if (caller == kHoldsNothing) drain_many();
}

void Recorder::tell(NoteTaker& taker, Note note) noexcept {
  if (taker.is_orphan_) [[unlikely]]
    return;
  note.to = taker.number_;
  check_state(kHoldsNothing);
  make_room();
  if (note.to != 0 && ring_.push(note)) return drain_many();
  const Quiet quiet;
  hand(taker, note);
}

// What others write meanwhile is for the next: whoever is here is a thread of the program, and
// would stay for as long as they write.
void Recorder::drain() noexcept {
  const std::uint64_t end = ring_.pushed();
  Note note;
  while (!ring_.has_read(end) && ring_.pop(note)) {
    noted_.fetch_add(1, std::memory_order_relaxed);
    for (NoteTaker* const one : takers_)
      if (note.to == 0 || note.to == one->number_) hand(*one, note);
  }
}

// A thread that was interrupted while it wrote a note keeps those behind it in the ring, this
// thread's own among them. It is about to go on; to leave them would hand them to a tracker that
// comes later under the number of one that is gone.
void Recorder::drain_all() noexcept {
  const std::uint64_t end = ring_.pushed();
  drain();
  for (int i = 0; i < kPatience && !ring_.has_read(end); ++i) {
    std::this_thread::yield();
    drain();
  }
}

void Recorder::hear_all() noexcept {
  drain_all();
  if (!wants_blocks()) return;
  look_at_last_blocks({[] { instance().drain_all(); },
                       [](const Note& note) {
                         for (NoteTaker* const one : instance().takers_) hand(*one, note);
                       }});
}

// Notes are handed on wherever the program frees memory: nothing may come out of it there.
void Recorder::hand(NoteTaker& taker, const Note& note) noexcept {
  if (taker.has_given_up()) return;
  try {
    taker.take(note);
  } catch (const std::exception& error) {
    taker.give_up(error.what());
  } catch (...) {
    taker.give_up("an error without a name");
  }
}

void NoteTaker::give_up(const char* why) noexcept {
  try {
    const std::lock_guard lock(why_lock_);
    if (why_.empty()) why_ = why;
  } catch (...) {
    // There is no memory for the reason, either.
  }
  has_given_up_ = true;
}

std::string NoteTaker::why_given_up() const {
  const std::lock_guard lock(why_lock_);
  return why_.empty() && has_given_up() ? "memory ran out" : why_;
}

void Recorder::drain_many() noexcept {
  constexpr std::size_t kMany = 4096;
  if (ring_.size() > kMany) drain_if_free();
}

bool Recorder::drain_if_free() noexcept {
  const std::unique_lock lock(lock_, std::try_to_lock);
  if (lock) drain();
  return lock.owns_lock();
}

void Recorder::attach(NoteTaker* taker) {
  const Quiet quiet;
  const auto is_taken = [&](int number) {
    return std::any_of(takers_.begin(), takers_.end(),
                       [&](const NoteTaker* one) { return one->number_ == number; });
  };
  int number = 1;
  while (number <= UINT8_MAX && is_taken(number)) ++number;
  taker->number_ = static_cast<std::uint8_t>(number <= UINT8_MAX ? number : 0);
  takers_.push_back(taker);
  listening_ = true;
}

void Recorder::detach(NoteTaker* taker) {
  const Quiet quiet;
  std::erase(takers_, taker);
  listening_ = !takers_.empty();
}

void Recorder::note_out_of_memory(std::int64_t wanted, const std::string& device) noexcept {
  try {
    const Quiet quiet;
    for (NoteTaker* const one : takers_) one->run_out_of_memory(wanted, device);
  } catch (...) {
    // The program's own error is on its way; ours must not take its place.
  }
}

void Recorder::count(const Wanted& wanted, int change) noexcept {
  starts_ += change;
  if (wanted.operators) operator_starts_ += change;
  if (wanted.outputs) output_starts_ += change;
  if (wanted.times) time_starts_ += change;
  if (wanted.origins) origin_starts_ += change;
  if (wanted.blocks) block_starts_ += change;
  if (change > 0) ++starts_so_far_;
  times_ = time_starts_ > 0;
}

void Recorder::start(const Wanted& wanted) {
  const std::lock_guard lock(starts_lock_);
  count(wanted, 1);
  try {
    follow_operators();
    if (starts_ == 1) install_allocators();
  } catch (...) {
    count(wanted, -1);
    throw;
  }
  recording_ = true;
  if (reads_state_ && !state_tells_borders()) follow_records();
}

void Recorder::stop(const Wanted& wanted) noexcept {
  const std::lock_guard lock(starts_lock_);
  count(wanted, -1);
  try {
    follow_operators();
  } catch (...) {
    // Operators are followed more closely than anybody asks for.
  }
  if (starts_ > 0) return;
  recording_ = false;
  remove_allocators();
}

// A forked child (a loader's worker) says nothing: its storages are not the parent's. PyTorch's own
// locks may be taken by threads that are not here, so what it was given stays there, and is idle.
void Recorder::forget_in_child() {
  recording_ = listening_ = wants_sample_ = times_ = false;
  reads_state_ = state_fails_ = needs_records_ = awaits_step_ = false;
  starts_ = operator_starts_ = output_starts_ = time_starts_ = origin_starts_ = 0;
  block_starts_ = 0;
  forget_last_births();
  for (NoteTaker* const one : takers_) one->is_orphan_ = true;
  takers_.clear();
  ring_.clear();
  const int marked_kernels = t_state.marked_kernels;  // these will still end
  t_state = {.id = t_state.id, .marked_kernels = marked_kernels};
}

std::uint8_t Recorder::device_number(const std::string& name) {
  const std::lock_guard lock(devices_lock_);
  const auto found = std::find(devices_.begin(), devices_.end(), name);
  const auto number = static_cast<std::uint8_t>(found - devices_.begin());
  if (found != devices_.end()) return number;
  devices_.push_back(name);
  // CUDA's allocator rounds unless it is told not to cache.
  const char* uncached = std::getenv("PYTORCH_NO_CUDA_MEMORY_CACHING");
  granularities_[number] = uncached && std::atoi(uncached) != 0 ? 1 : granularity_of(name);
  return number;
}

std::string Recorder::device_name(std::uint8_t number) {
  const std::lock_guard lock(devices_lock_);
  return devices_.at(number);
}

}  // namespace tidemark::recorder
