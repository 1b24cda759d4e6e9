// What a run needs of the recorder: devices by name, and why it was given up.
#include "tidemark/libtorch/recorder/tracked_run.h"

#include "tidemark/libtorch/recorder/allocators.h"

namespace tidemark::recorder {

namespace {

std::unique_ptr<attribution::RunTape> tape_at(const std::string& path) {
  if (path.empty()) return nullptr;
  return std::make_unique<attribution::RunTape>(attribution::TapeOptions{
      .path = path,
      .device_name = [](std::uint8_t number) { return Recorder::instance().device_name(number); }});
}

Note with_one_host(Note note) {
  if (note.device == host_numbers().pinned) note.device = host_numbers().cpu;
  return note;
}

// Steps are told to those who write them down.
attribution::Rules with_steps(attribution::Rules rules, bool knows_steps) {
  rules.knows_steps = knows_steps;
  return rules;
}

}  // namespace

TrackedRun::TrackedRun(const attribution::Rules& rules, const attribution::Scheme& scheme,
                       const std::string& tape)
    : Run(attribution::Attribution(with_steps(rules, !tape.empty()),
                                   Recorder::instance().granularities(), scheme),
          tape_at(tape)) {}

void TrackedRun::take(const Note& note) {
  if (note.kind == NoteKind::From) return set_origin(note);
  if (note.kind == NoteKind::Shaped) {
    const CallId call(static_cast<CallId::rep>(note.bytes));
    if (tape()) name_birth(note.key, Origins::instance().call_in(tape()->tables(), call));
    return;
  }
  const bool is_known = note.kind == NoteKind::Born && note.thread < origins_.size();
  Run::take(tells_pinned() ? note : with_one_host(note),
            is_known ? &origins_[note.thread] : nullptr);
}

void TrackedRun::set_origin(const Note& note) {
  if (!tape()) return;
  if (origins_.size() <= note.thread) origins_.resize(note.thread + 1);
  const StackId line(static_cast<StackId::rep>(note.key));
  const CallId call(static_cast<CallId::rep>(note.bytes));
  Tables& tables = tape()->tables();
  origins_[note.thread].stack = Origins::instance().line_in(tables, line);
  origins_[note.thread].call = Origins::instance().call_in(tables, call);
}

void TrackedRun::run_out_of_memory(std::int64_t wanted, const std::string& device) {
  Run::run_out_of_memory(wanted, device, this_thread().id);
}

void TrackedRun::tell_given_up() {
  if (!has_given_up() || has_told_given_up_) return;
  has_told_given_up_ = true;
  diagnose("recording-stopped",
           "an error of tidemark's own ended the recording: " + why_given_up());
}

void TrackedRun::close_tape() {
  tell_given_up();
  Run::close_tape(Recorder::instance().dropped());
}

void TrackedRun::finish() {
  tell_given_up();
  Run::finish(Recorder::instance().dropped());
}

}  // namespace tidemark::recorder
