// Notes to attribution, the module book and the tape.
#include "tidemark/libtorch/attribution/run.h"

#include <algorithm>

namespace tidemark::attribution {

namespace {

// What comes next happens then and there.
class Setting {
 public:
  Setting(RunTape* tape, std::int64_t time_ns, const Place* place) : tape_(tape) {
    if (!tape_) return;
    tape_->set_time(time_ns);
    tape_->set_place(place);
  }
  ~Setting() {
    if (!tape_) return;
    tape_->set_time(0);
    tape_->set_place(nullptr);
  }
  Setting(const Setting&) = delete;
  Setting& operator=(const Setting&) = delete;

 private:
  RunTape* tape_;
};

}  // namespace

Run::Run(Attribution attribution, std::unique_ptr<RunTape> tape)
    : attribution_(std::move(attribution)), tape_(std::move(tape)), book_(attribution_, !tape_) {
  attribution_.accept_births(false);
  attribution_.set_listener(tape_.get());
}

void Run::take(const Note& note, const Place* place) {
  const Setting setting(tape_.get(), note.time_ns, place);
  understand(note);
}

void Run::take_moved(StorageKey old, const Note& note, const Place* place) {
  const Setting setting(tape_.get(), note.time_ns, place);
  attribution_.moved(old, note);
}

void Run::name_birth(StorageKey storage, CallId call) {
  const auto number = attribution_.number_of(storage);
  if (tape_ && number) tape_->name_birth(*number, call);
}

void Run::understand(const Note& note) {
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
    case NoteKind::Purposed: set_purpose(note.thread, note.purpose()); return;
    default: return attribution_.take(note);
  }
}

// Another tracker may be the one that awaits it.
void Run::begin_step() {
  if (!tape_ || !is_running_ || !awaits_step_) return;
  awaits_step_ = false;
  ++steps_begun_;
  attribution_.begin_step();
  tape_->begin_step();
}

// What the border was told to pass.
template <class Visit>
void Run::for_each_passed(const Note& border, const Visit& visit) {
  if (border.key) visit(border.key);
  std::erase_if(passed_, [&](const Note& passed) {
    if (passed.thread != border.thread) return false;
    visit(passed.key);
    return true;
  });
}

// As far as they are known.
std::int64_t Run::passed_bytes(const Note& note) {
  std::int64_t bytes = 0;
  for_each_passed(note, [&](StorageKey key) { bytes += attribution_.bytes_of(key).value_or(0); });
  return bytes;
}

void Run::begin_forward(const Note& note) {
  const ModuleNumber module = note.module();
  const bool in_backward = note.has(kInBackward);
  attribution_.settle(note.thread);
  // A tape does not say how many bytes a call was given, but what the program's inputs are.
  if (!tape_) calls_[module].input_bytes = passed_bytes(note);
  else
    for_each_passed(note, [&](StorageKey key) {
      if (attribution_.modules_open(note.thread) == 0) attribution_.take_input(key);
    });
  book_.begin_forward(module, note.thread, in_backward);
  write_begin(note, in_backward ? Phase::Recompute : Phase::Forward);
  open_calls_.push_back({module, note.thread, awaited_ends_.size()});
  if (note.has(kEndsWithBackward)) awaited_ends_.push_back({module, note.thread});
}

void Run::end_forward(const Note& note) {
  const ModuleNumber module = note.module();
  const bool in_backward = note.has(kInBackward);
  const std::int64_t bytes = passed_bytes(note);
  if (!in_backward && book_.is_known(module)) calls_[module].output_bytes = bytes;
  attribution_.settle(note.thread);
  book_.end_forward(module, note.thread, in_backward);
  write_end(module, note.thread, in_backward ? Phase::Recompute : Phase::Forward);
  forget_call(module, note.thread, note.has(kFailed));
}

// No backward will come through a call that raised, nor through those inside it.
void Run::forget_call(ModuleNumber module, std::uint32_t thread, bool failed) {
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

void Run::abandon_forward(ModuleNumber module, std::uint32_t thread) {
  forget_call(module, thread, true);
  book_.abandon_forward(module, thread);
}

void Run::write_begin(const Note& note, Phase phase) {
  if (tape_) tape_->begin_scope(note.thread, scopes_[note.module()], phase);
}

void Run::write_end(ModuleNumber module, std::uint32_t thread, Phase phase) {
  if (tape_) tape_->end_scope(thread, scopes_[module], phase);
}

std::optional<std::vector<ModuleNumber>> Run::begin_backward(std::uint32_t thread,
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

void Run::finish_backward(std::uint32_t thread, const std::vector<ModuleNumber>& ends) {
  attribution_.leave_operators(thread);
  for (const ModuleNumber module : ends) {
    book_.end_backward(module);
    write_end(module, thread, Phase::Backward);
  }
  book_.finish_backward(thread);
  if (tape_) tape_->close_scopes(thread, Phase::Backward);
  std::erase(backward_threads_, thread);
  attribution_.set_creates_graph(thread, false);
}

void Run::begin_optimizer(std::uint32_t thread) {
  attribution_.settle(thread);
  attribution_.begin_optimizer(thread);
  if (tape_) tape_->begin_optimizer();
}

void Run::end_optimizer(std::uint32_t thread) {
  attribution_.leave_operators(thread);
  attribution_.end_optimizer(thread);
  awaits_step_ = true;
  if (tape_) tape_->end_optimizer();
}

void Run::set_in_closure(std::uint32_t thread, bool in_closure) {
  attribution_.settle(thread);
  attribution_.set_in_closure(thread, in_closure);
}

std::optional<Category> Run::set_purpose(std::uint32_t thread, std::optional<Category> purpose) {
  attribution_.settle(thread);
  return attribution_.set_purpose(thread, purpose);
}

void Run::tell_moment(ModuleNumber module, Moment moment, std::uint32_t thread, bool in_backward) {
  attribution_.settle(thread);
  book_.tell(module, moment, thread, in_backward);
}

void Run::start(bool count_at_birth) {
  is_running_ = true;
  if (tape_) tape_->open_again();
  attribution_.accept_births(true);
  attribution_.count_at_birth(count_at_birth);
  attribution_.reset_peak();
}

void Run::stop(std::uint32_t thread) {
  is_running_ = false;
  attribution_.leave_all_operators();
  attribution_.settle(thread);
  attribution_.accept_births(false);
  book_.close_all();
  awaited_ends_.clear();
  open_calls_.clear();
  backward_threads_.clear();
}

ModuleNumber Run::add_module() {
  names_.emplace_back();
  scopes_.emplace_back();
  calls_.emplace_back();
  return book_.add_module();
}

void Run::set_name(ModuleNumber module, const std::string& name) {
  names_[module] = name;
  if (tape_) scopes_[module] = tape_->tables().scope(name);
}

void Run::clear_modules() {
  book_.clear();
  calls_.assign(calls_.size(), {});
}

void Run::run_out_of_memory(std::int64_t wanted, const std::string& device, std::uint32_t thread) {
  if (!is_running_) return;
  OutOfMemory found{wanted, device, attribution_.current(), {}, {}, -1};
  for (const OpenCall& call : open_calls_) found.open_modules.push_back(names_[call.module]);
  if (tape_) {
    found.largest = tape_->largest(20);
    found.event =
        tape_->mark("out of memory: " + std::to_string(wanted) + " bytes wanted on " + device,
                    thread, attribution_.phase_now(thread, 0));
    if (!out_of_memory_) write_first(found);
  }
  out_of_memory_ = std::move(found);
}

void Run::write_first(const OutOfMemory& found) {
  Tables& tables = tape_->tables();
  tables.set_meta("oom.device", found.device);
  tables.set_meta("oom.wanted_bytes", std::to_string(found.wanted));
  tables.set_meta("oom.event", std::to_string(found.event));
  for (std::size_t number = 0; number < found.rows.size(); ++number)
    if (found.rows[number].total > 0 &&
        tape_->device_name(static_cast<std::uint8_t>(number)) == found.device)
      tables.set_meta("oom.allocated_bytes", std::to_string(found.rows[number].total));
}

void Run::diagnose(const std::string& code, const std::string& message) {
  if (tape_) tape_->diagnose(code, Severity::Warning, "", message);
}

void Run::close_tape(std::uint64_t dropped_notes) {
  if (tape_) tape_->close(dropped_notes, false);
}

void Run::finish(std::uint64_t dropped_notes) {
  if (!tape_) return;
  finished_tape_ = std::move(tape_);
  attribution_.set_listener(nullptr);
  finished_tape_->close(dropped_notes, true);
}

}  // namespace tidemark::attribution
