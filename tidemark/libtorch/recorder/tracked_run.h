// The run of one tracker, as the recorder tells it: behind the program, under the recorder's lock.
#pragma once

#include "tidemark/libtorch/attribution/run.h"
#include "tidemark/libtorch/recorder/recorder.h"

namespace tidemark::recorder {

class TrackedRun final : public NoteTaker, public attribution::Run {
 public:
  // With a path, a tape is written there.
  TrackedRun(const attribution::Rules& rules, const attribution::Scheme& scheme,
             const std::string& tape);

  void take(const Note& note) override;
  // Whether the host's pinned memory is a device of its own.
  bool tells_pinned() const { return written() != nullptr; }
  void run_out_of_memory(std::int64_t wanted, const std::string& device) override;
  void close_tape();
  void finish();

 private:
  void tell_given_up();
  void set_origin(const Note& note);

  std::vector<tidemark::Place>
      origins_;  // of what each thread makes now; empty where nobody wants them
  bool has_told_given_up_ = false;
};

}  // namespace tidemark::recorder
