// What one tracker knows of a run, from notes in their order: storages, module calls, the tape.
//
// It runs behind the program: only under the recorder's lock, and only as far as notes were handed
// on. It never calls torch.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tidemark/libtorch/attribution/attribution.h"
#include "tidemark/libtorch/attribution/module_book.h"
#include "tidemark/libtorch/recorder/recorder.h"
#include "tidemark/libtorch/recorder/tape_log.h"

namespace tidemark::recorder {

using attribution::Attribution;
using attribution::ModuleBook;
using attribution::ModuleNumber;
using attribution::Rows;

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

class TrackedRun final : public NoteTaker {
 public:
  // With a path, a tape is written there, and modules get no snapshots: the tape has it all.
  TrackedRun(const attribution::Rules& rules, const std::string& tape);

  void take(const Note& note) override;
  void run_out_of_memory(std::int64_t wanted, const std::string& device) override;
  const std::optional<OutOfMemory>& out_of_memory() const { return out_of_memory_; }

  Attribution& attribution() { return attribution_; }
  ModuleBook& book() { return book_; }
  TapeLog* log() { return log_.get(); }  // null where no tape is written
  // The same, and after the end, too: it knows what the file could not take.
  const TapeLog* written() const { return log_ ? log_.get() : finished_log_.get(); }

  void start(bool count_at_birth);
  void stop(std::uint32_t thread);
  ModuleNumber add_module();
  void set_name(ModuleNumber module, const std::string& name);
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
  bool awaits_step() const { return log_ && awaits_step_; }
  std::int64_t steps_done() const { return steps_begun_ - (awaits_step_ ? 0 : 1); }

  // What the reader of the tape must know of how it was made.
  void diagnose(const std::string& code, const std::string& message);
  // Makes the tape whole, until the next start.
  void close_tape();
  // The same for good: nothing is written afterwards.
  void finish();

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
  std::int64_t passed_bytes(const Note& note);
  void write_begin(const Note& note, Phase phase);
  void write_first(const OutOfMemory& found);
  void tell_given_up();
  void write_end(ModuleNumber module, std::uint32_t thread, Phase phase);

  Attribution attribution_;
  std::unique_ptr<TapeLog> log_, finished_log_;
  ModuleBook book_;
  bool is_running_ = false, has_told_given_up_ = false;
  std::atomic<bool> awaits_step_{true};
  std::int64_t steps_begun_ = 0;
  std::vector<std::string> names_;  // of modules, by number
  std::vector<ScopeId> scopes_;     // the same in the tape
  std::vector<CallBytes> calls_;
  std::vector<Note> passed_;
  std::vector<AwaitedEnd> awaited_ends_;
  std::vector<OpenCall> open_calls_;
  std::vector<std::uint32_t> backward_threads_;  // threads whose backward is followed
  std::optional<OutOfMemory> out_of_memory_;
};

}  // namespace tidemark::recorder
