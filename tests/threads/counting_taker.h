// Hears the recorder's notes for as long as it lives, and counts them.
#pragma once

#include <string>

#include "tidemark/libtorch/recorder/recorder.h"

namespace tidemark::recorder {

class CountingTaker final : public NoteTaker {
 public:
  CountingTaker() { Recorder::instance().attach(this); }
  ~CountingTaker() override { Recorder::instance().detach(this); }
  void take(const Note&) override { ++heard_; }
  void run_out_of_memory(std::int64_t, const std::string&) override {}

  // All that was written so far.
  int heard() const {
    const Recorder::Quiet quiet;
    return heard_;
  }
  // What was handed on so far, by whoever wrote it.
  int heard_by_itself() const { return heard_; }

 private:
  int heard_ = 0;
};

}  // namespace tidemark::recorder
