// Notes to attribution, the module book and the tape.
#include "tidemark/libtorch/recorder/tracked_run.h"

#include <algorithm>

namespace tidemark::recorder {

using attribution::kFailed;
using attribution::kInBackward;

TrackedRun::TrackedRun(const attribution::Rules& rules, const std::string& tape)
    : attribution_(rules, Recorder::instance().granularities()),
      log_(tape.empty() ? nullptr : std::make_unique<TapeLog>(tape)),
      book_(attribution_, tape.empty()) {
  attribution_.accept_births(false);
  attribution_.set_listener(log_.get());
}

void TrackedRun::take(const Note& note) {
  if (log_) log_->set_time(note.time_ns);
  understand(note);
  if (log_) log_->set_time(0);
}

void TrackedRun::understand(const Note& note) {
  if (note.kind == NoteKind::StepBegan) return begin_step();
  if (is_about_module(note.kind)) attribution_.leave_operators(note.thread);
  switch (note.kind) {
    case NoteKind::Passed: return passed_.push_back(note);
    case NoteKind::ForwardBegan: return begin_forward(note);
    case NoteKind::ForwardEnded: return end_forward(note);
    case NoteKind::BackwardBegan:
      book_.begin_backward(note.module(), note.thread);
      return write_begin(note, Phase::Backward);
    case NoteKind::BackwardEnded:
      book_.end_backward(note.module());
      return write_end(note.module(), note.thread, Phase::Backward);
    default: return attribution_.take(note);
  }
}

// Another tracker may be the one that awaits it.
void TrackedRun::begin_step() {
  if (!log_ || !is_running_ || !awaits_step_) return;
  awaits_step_ = false;
  ++steps_begun_;
  log_->begin_step();
}

// What the border was told to pass, as far as it is known.
std::int64_t TrackedRun::passed_bytes(const Note& note) {
  std::int64_t bytes = note.key ? attribution_.bytes_of(note.key).value_or(0) : 0;
  std::erase_if(passed_, [&](const Note& passed) {
    if (passed.thread != note.thread) return false;
    bytes += attribution_.bytes_of(passed.key).value_or(0);
    return true;
  });
  return bytes;
}

void TrackedRun::begin_forward(const Note& note) {
  const ModuleNumber module = note.module();
  const bool in_backward = note.has(kInBackward);
  calls_[module].input_bytes = passed_bytes(note);
  attribution_.settle(note.thread);
  book_.begin_forward(module, note.thread, in_backward);
  write_begin(note, in_backward ? Phase::Recompute : Phase::Forward);
  open_calls_.push_back({module, note.thread, awaited_ends_.size()});
  if (note.has(attribution::kEndsWithBackward)) awaited_ends_.push_back({module, note.thread});
}

void TrackedRun::end_forward(const Note& note) {
  const ModuleNumber module = note.module();
  const bool in_backward = note.has(kInBackward);
  const std::int64_t bytes = passed_bytes(note);
  if (!in_backward && book_.is_known(module)) calls_[module].output_bytes = bytes;
  attribution_.settle(note.thread);
  book_.end_forward(module, note.thread, in_backward);
  write_end(module, note.thread, in_backward ? Phase::Recompute : Phase::Forward);
  if (log_ && in_backward) log_->set_phase(note.thread, Phase::Backward);
  forget_call(module, note.thread, note.has(kFailed));
}

// No backward will come through a call that raised, nor through those inside it.
void TrackedRun::forget_call(ModuleNumber module, std::uint32_t thread, bool failed) {
  const auto call = std::find_if(
      open_calls_.rbegin(), open_calls_.rend(),
      [&](const OpenCall& one) { return one.module == module && one.thread == thread; });
  if (call == open_calls_.rend()) return;
  if (failed && call->awaited_ends < awaited_ends_.size()) {
    const auto first = awaited_ends_.begin() + static_cast<std::ptrdiff_t>(call->awaited_ends);
    awaited_ends_.erase(std::remove_if(first, awaited_ends_.end(),
                                       [&](const AwaitedEnd& end) { return end.thread == thread; }),
                        awaited_ends_.end());
  }
  open_calls_.erase(std::next(call).base());
}

void TrackedRun::abandon_forward(ModuleNumber module, std::uint32_t thread) {
  forget_call(module, thread, true);
  book_.abandon_forward(module, thread);
}

void TrackedRun::write_begin(const Note& note, Phase phase) {
  if (log_) log_->begin_scope(note.thread, scopes_[note.module()], phase);
}

void TrackedRun::write_end(ModuleNumber module, std::uint32_t thread, Phase phase) {
  if (!log_) return;
  log_->end_scope(thread, scopes_[module], phase);
  if (attribution_.modules_open(thread) == 0 && phase == Phase::Forward)
    log_->set_phase(thread, Phase::Other);
}

std::optional<std::vector<ModuleNumber>> TrackedRun::begin_backward(std::uint32_t thread,
                                                                    bool creates_graph) {
  if (std::count(backward_threads_.begin(), backward_threads_.end(), thread)) return std::nullopt;
  backward_threads_.push_back(thread);
  // The backward of CPU models runs on the thread of their forward; else all are meant.
  const bool own = std::any_of(awaited_ends_.begin(), awaited_ends_.end(),
                               [&](const AwaitedEnd& end) { return end.thread == thread; });
  std::vector<ModuleNumber> ends;
  std::erase_if(awaited_ends_, [&](const AwaitedEnd& end) {
    if (own && end.thread != thread) return false;
    ends.push_back(end.module);
    return true;
  });
  std::reverse(ends.begin(), ends.end());
  attribution_.leave_operators(thread);
  attribution_.set_creates_graph(thread, creates_graph);
  return ends;
}

void TrackedRun::finish_backward(std::uint32_t thread, const std::vector<ModuleNumber>& ends) {
  attribution_.leave_operators(thread);
  for (const ModuleNumber module : ends) {
    book_.end_backward(module);
    write_end(module, thread, Phase::Backward);
  }
  book_.finish_backward(thread);
  if (log_) log_->close_scopes(thread, Phase::Backward);
  std::erase(backward_threads_, thread);
  attribution_.set_creates_graph(thread, false);
}

void TrackedRun::begin_optimizer(std::uint32_t thread) {
  attribution_.settle(thread);
  attribution_.begin_optimizer(thread);
  if (log_) log_->begin_optimizer(thread);
}

void TrackedRun::end_optimizer(std::uint32_t thread) {
  attribution_.leave_operators(thread);
  attribution_.end_optimizer(thread);
  awaits_step_ = true;
  if (log_) log_->end_optimizer(thread);
}

void TrackedRun::start(bool count_at_birth) {
  is_running_ = true;
  if (log_) log_->open_again();
  attribution_.accept_births(true);
  attribution_.count_at_birth(count_at_birth);
  attribution_.reset_peak();
}

void TrackedRun::stop(std::uint32_t thread) {
  is_running_ = false;
  attribution_.leave_all_operators();
  attribution_.settle(thread);
  attribution_.accept_births(false);
  book_.close_all();
  awaited_ends_.clear();
  open_calls_.clear();
  backward_threads_.clear();
}

ModuleNumber TrackedRun::add_module() {
  names_.emplace_back();
  scopes_.emplace_back();
  calls_.emplace_back();
  return book_.add_module();
}

void TrackedRun::set_name(ModuleNumber module, const std::string& name) {
  names_[module] = name;
  if (log_) scopes_[module] = log_->scope(name);
}

void TrackedRun::clear_modules() {
  book_.clear();
  calls_.assign(calls_.size(), {});
}

void TrackedRun::run_out_of_memory(std::int64_t wanted, const std::string& device) {
  if (!is_running_) return;
  OutOfMemory found{wanted, device, attribution_.current(), {}, {}, -1};
  for (const OpenCall& call : open_calls_) found.open_modules.push_back(names_[call.module]);
  if (log_) {
    found.largest = log_->largest(20);
    found.event =
        log_->mark("out of memory: " + std::to_string(wanted) + " bytes wanted on " + device);
    if (!out_of_memory_) write_first(found);
  }
  out_of_memory_ = std::move(found);
}

void TrackedRun::write_first(const OutOfMemory& found) {
  log_->set_meta("oom.device", found.device);
  log_->set_meta("oom.wanted_bytes", std::to_string(found.wanted));
  log_->set_meta("oom.event", std::to_string(found.event));
  for (std::size_t number = 0; number < found.rows.size(); ++number) {
    const std::int64_t total = found.rows[number].total;
    if (total == 0) continue;
    if (Recorder::instance().device_name(static_cast<std::uint8_t>(number)) == found.device)
      log_->set_meta("oom.allocated_bytes", std::to_string(total));
  }
}

void TrackedRun::diagnose(const std::string& code, const std::string& message) {
  if (log_) log_->diagnose(code, message);
}

void TrackedRun::tell_given_up() {
  if (!has_given_up() || has_told_given_up_) return;
  has_told_given_up_ = true;
  diagnose("recording-stopped",
           "an error of tidemark's own ended the recording: " + why_given_up());
}

void TrackedRun::close_tape() {
  tell_given_up();
  if (log_) log_->close(Recorder::instance().dropped(), false);
}

void TrackedRun::finish() {
  if (!log_) return;
  tell_given_up();
  finished_log_ = std::move(log_);
  attribution_.set_listener(nullptr);
  finished_log_->close(Recorder::instance().dropped(), true);
}

}  // namespace tidemark::recorder
