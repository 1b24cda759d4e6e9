// What is known of one run, from notes in their order: storages, module calls, the tape.
//
// Whatever follows a program, live or on virtual GPUs, tells it here; what it means is decided here
// and nowhere else. It never calls torch, and is not for several threads at once.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tidemark/libtorch/attribution/attribution.h"
#include "tidemark/libtorch/attribution/module_book.h"
#include "tidemark/libtorch/attribution/run_tape.h"

namespace tidemark::attribution {

// What was alive when an allocator failed.
struct OutOfMemory {
  std::int64_t wanted = 0;
  std::string device;
  Rows rows;
  std::vector<LiveStorage> largest;
  std::vector<std::string> open_modules;  // outermost first
  std::int64_t event = -1;                // its mark in the tape, if one is written
};

// What the last call of a module took and gave; -1 if none has told.
struct CallBytes {
  std::int64_t input_bytes = -1, output_bytes = -1;
};

class Run {
 public:
  // With a tape, modules get no snapshots: the tape has it all.
  Run(Attribution attribution, std::unique_ptr<RunTape> tape);

  // A place tells what the source knows beyond the note: operator, source line, module.
  void take(const Note& note, const Place* place = nullptr);
  // A storage is in other memory now; see Attribution::moved.
  void take_moved(StorageKey old, const Note& note, const Place* place);
  // A storage that nobody has told of, in a block of the allocator's; of one that is known, the
  // block.
  void adopt(StorageKey key, std::int64_t bytes, std::int64_t block_bytes, std::uint8_t device);
  // More is known of the operator that has made this storage, before the end of the operator.
  void name_birth(StorageKey storage, CallId call);
  const std::optional<OutOfMemory>& out_of_memory() const { return out_of_memory_; }
  void run_out_of_memory(std::int64_t wanted, const std::string& device, std::uint32_t thread);

  Attribution& attribution() { return attribution_; }
  ModuleBook& book() { return book_; }
  RunTape* tape() { return tape_.get(); }  // null where none is written
  // The same, and after the end, too: it knows what the file could not take.
  const RunTape* written() const { return tape_ ? tape_.get() : finished_tape_.get(); }

  void start(bool count_at_birth);
  void stop(std::uint32_t thread);
  ModuleNumber add_module();
  // It may change until the next call.
  void set_name(ModuleNumber module, const std::string& name);
  ScopeId scope_of(ModuleNumber module) const { return scopes_[module]; }
  CallBytes last_call(ModuleNumber module) const { return calls_[module]; }
  void clear_modules();
  // The call of this module, and those inside it, ended without a word.
  void abandon_forward(ModuleNumber module, std::uint32_t thread);

  // The first news of a backward on this thread: the modules that will end with it, since no
  // gradient of theirs tells. Nothing if it is followed already.
  std::optional<std::vector<ModuleNumber>> begin_backward(std::uint32_t thread, bool creates_graph);
  void finish_backward(std::uint32_t thread, const std::vector<ModuleNumber>& ends);
  void begin_optimizer(std::uint32_t thread);
  // Ends the training step; the next begins with the next forward.
  void end_optimizer(std::uint32_t thread);
  // Inside an optimizer's step: the closure that it was given runs, or has run.
  void set_in_closure(std::uint32_t thread, bool in_closure);
  // See ThreadWork; returns what was set before.
  std::optional<Category> set_purpose(std::uint32_t thread, std::optional<Category> purpose);
  // A moment of a module that no border tells; see ModuleBook::tell.
  void tell_moment(ModuleNumber module, Moment moment, std::uint32_t thread, bool in_backward);
  bool awaits_step() const { return tape_ && awaits_step_; }
  std::int64_t steps_begun() const { return steps_begun_; }
  std::int64_t steps_done() const { return steps_begun_ - (awaits_step_ ? 0 : 1); }

  // What the reader of the tape must know of how it was made.
  void diagnose(const std::string& code, const std::string& message);
  // Makes the tape whole, until the next start.
  void close_tape(std::uint64_t dropped_notes);
  // The same for good: nothing is written afterwards.
  void finish(std::uint64_t dropped_notes);

 private:
  struct OpenCall {
    ModuleNumber module;
    std::uint32_t thread;
    std::size_t awaited_ends;  // how many there were before it
  };
  struct AwaitedEnd {  // a module without differentiable inputs ends with the next backward
    ModuleNumber module;
    std::uint32_t thread;
  };

  void understand(const Note& note);
  void begin_step();
  void begin_forward(const Note& note);
  void end_forward(const Note& note);
  void forget_call(ModuleNumber module, std::uint32_t thread, bool failed);
  template <class Visit>
  void for_each_passed(const Note& border, const Visit& visit);
  std::int64_t passed_bytes(const Note& note);
  void write_begin(const Note& note, Phase phase);
  void write_first(const OutOfMemory& found);
  void write_end(ModuleNumber module, std::uint32_t thread, Phase phase);

  Attribution attribution_;
  std::unique_ptr<RunTape> tape_, finished_tape_;
  ModuleBook book_;
  bool is_running_ = false;
  std::atomic<bool> awaits_step_{true};
  std::atomic<std::int64_t> steps_begun_{0};
  std::vector<std::string> names_;  // of modules, by number
  std::vector<ScopeId> scopes_;     // the same in the tape
  std::vector<CallBytes> calls_;
  std::vector<Note> passed_;
  std::vector<AwaitedEnd> awaited_ends_;
  std::vector<OpenCall> open_calls_;
  std::vector<std::uint32_t> backward_threads_;  // threads whose backward is followed
  std::optional<OutOfMemory> out_of_memory_;
};

}  // namespace tidemark::attribution
