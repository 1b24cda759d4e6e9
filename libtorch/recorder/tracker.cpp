// Module calls and backwards, handed to attribution under the recorder's lock.
#include "tidemark/torch/recorder/tracker.h"

#include <ATen/ATen.h>

#include <algorithm>

#include "tidemark/torch/recorder/gradients.h"
#include "tidemark/torch/recorder/recorder.h"

namespace tidemark::recorder {

using Quiet = Recorder::Quiet;

namespace {

bool any_differentiable(at::TensorList tensors) {
  return std::any_of(tensors.begin(), tensors.end(),
                     [](const at::Tensor& tensor) { return tensor.requires_grad(); });
}

}  // namespace

Tracker::Tracker(TrackerOptions options)
    : options_(options),
      attribution_(options.rules, Recorder::instance().granularities()),
      book_(attribution_, options.tape.empty()) {
  attribution_.accept_births(false);
  if (!options_.tape.empty()) log_ = std::make_unique<TapeLog>(options_.tape);
  attribution_.set_listener(log_.get());
  Recorder::instance().attach(&attribution_, [this](std::int64_t wanted, const std::string& device) {
    remember_out_of_memory(wanted, device);
  });
}

Tracker::~Tracker() {
  stop();
  finish();
  Recorder::instance().detach(&attribution_);
}

Recorder::Wanted Tracker::wanted() const {
  return {!options_.rules.count_at_birth, outputs_, !options_.tape.empty()};
}

void Tracker::start(bool outputs) {
  if (running_) return;
  running_ = true;
  outputs_ = outputs;
  {
    const Quiet quiet;
    attribution_.accept_births(true);
    attribution_.count_at_birth(options_.rules.count_at_birth && !outputs);
    attribution_.reset_peak();
  }
  Recorder::instance().start(wanted());
}

void Tracker::stop() {
  if (!running_) return;
  running_ = false;
  Recorder::instance().stop(wanted());
  {
    const Quiet quiet;
    attribution_.settle(this_thread().id);
    attribution_.accept_births(false);
    book_.close_all();
    awaited_ends_.clear();
    open_calls_.clear();
    backward_threads_.clear();
  }
  forget_awaited_leaves();
}

ModuleNumber Tracker::add_module() {
  const Quiet quiet;
  names_.emplace_back();
  scopes_.emplace_back();
  return book_.add_module();
}

void Tracker::set_name(ModuleNumber module, const std::string& name) {
  const Quiet quiet;
  names_[module] = name;
  if (log_) scopes_[module] = log_->scope(name);
}

void Tracker::write_begin(ModuleNumber module, std::uint32_t thread, Phase phase) {
  if (log_) log_->begin_scope(thread, scopes_[module], phase);
}

void Tracker::write_end(ModuleNumber module, std::uint32_t thread, Phase phase) {
  if (!log_) return;
  log_->end_scope(thread, scopes_[module], phase);
  if (attribution_.modules_open(thread) == 0 && phase == Phase::Forward)
    log_->set_phase(thread, Phase::Other);
}

std::int64_t Tracker::begin_forward(ModuleNumber module, at::TensorList inputs) {
  const bool in_backward = current_backward() != -1;
  const std::uint32_t thread = this_thread().id;
  const bool awaits = !in_backward && any_differentiable(inputs);
  std::int64_t bytes;
  {
    const Quiet quiet;
    bytes = log_ ? 0 : known_bytes_quietly(inputs);
    attribution_.settle(thread);
    book_.begin_forward(module, thread, in_backward);
    write_begin(module, thread, in_backward ? Phase::Recompute : Phase::Forward);
    open_calls_.push_back({module, thread, awaited_ends_.size()});
    if (!in_backward && !awaits) awaited_ends_.push_back({module, thread});
  }
  if (awaits) await_gradients(inputs, Await::All, {&end_backward_of, weak_from_this(), module});
  return bytes;
}

std::int64_t Tracker::end_forward(ModuleNumber module, at::TensorList outputs, bool failed) {
  const bool in_backward = current_backward() != -1;
  std::int64_t bytes;
  {
    const Quiet quiet;
    bytes = log_ ? 0 : known_bytes_quietly(outputs);
    const std::uint32_t thread = this_thread().id;
    attribution_.settle(thread);
    book_.end_forward(module, thread, in_backward);
    write_end(module, thread, in_backward ? Phase::Recompute : Phase::Forward);
    if (log_ && in_backward) log_->set_phase(thread, Phase::Backward);
    forget_call(module, thread, failed);
  }
  if (!in_backward)
    await_gradients(outputs, Await::First, {&begin_backward_of, weak_from_this(), module});
  return bytes;
}

// No backward will come through a call that raised, nor through those inside it.
void Tracker::forget_call(ModuleNumber module, std::uint32_t thread, bool failed) {
  const auto call = std::find_if(open_calls_.rbegin(), open_calls_.rend(), [&](const OpenCall& one) {
    return one.module == module && one.thread == thread;
  });
  if (call == open_calls_.rend()) return;
  if (failed && call->awaited_ends < awaited_ends_.size()) {
    const auto first = awaited_ends_.begin() + static_cast<std::ptrdiff_t>(call->awaited_ends);
    awaited_ends_.erase(std::remove_if(first, awaited_ends_.end(),
                                       [&](const AwaitedEnd& end) { return end.thread == thread; }),
                        awaited_ends_.end());
  }
  open_calls_.erase(std::next(call).base());
}

void Tracker::abandon_forward(ModuleNumber module) {
  const Quiet quiet;
  const std::uint32_t thread = this_thread().id;
  forget_call(module, thread, true);
  book_.abandon_forward(module, thread);
}

void Tracker::begin_backward_of(void* tracker, std::uint32_t module, const Gradients&) {
  static_cast<Tracker*>(tracker)->begin_backward(module);
}
void Tracker::end_backward_of(void* tracker, std::uint32_t module, const Gradients&) {
  static_cast<Tracker*>(tracker)->end_backward(module);
}

void Tracker::begin_backward(ModuleNumber module) {
  if (!running_) return;
  follow_backward();
  const Quiet quiet;
  book_.begin_backward(module, this_thread().id);
  write_begin(module, this_thread().id, Phase::Backward);
}

void Tracker::end_backward(ModuleNumber module) {
  if (!running_) return;
  const Quiet quiet;
  book_.end_backward(module);
  write_end(module, this_thread().id, Phase::Backward);
}

// The first hook of a backward asks the engine to be told of its end.
void Tracker::follow_backward() {
  const std::uint32_t thread = this_thread().id;
  std::vector<ModuleNumber> ends;
  {
    const Quiet quiet;
    if (std::count(backward_threads_.begin(), backward_threads_.end(), thread)) return;
    backward_threads_.push_back(thread);
    // The backward of CPU models runs on the thread of their forward; else all are meant.
    const bool own = std::any_of(awaited_ends_.begin(), awaited_ends_.end(),
                                 [&](const AwaitedEnd& end) { return end.thread == thread; });
    std::erase_if(awaited_ends_, [&](const AwaitedEnd& end) {
      if (own && end.thread != thread) return false;
      ends.push_back(end.module);
      return true;
    });
    attribution_.set_creates_graph(thread, at::GradMode::is_enabled());
  }
  std::reverse(ends.begin(), ends.end());
  const auto self = weak_from_this();
  at_end_of_backward(
      [self, thread, ends = std::move(ends)] {
        if (const auto tracker = self.lock()) tracker->finish_backward(thread, ends);
      },
      [self, thread] {
        if (const auto tracker = self.lock()) tracker->finish_backward(thread, {});
      });
}

void Tracker::finish_backward(std::uint32_t thread, const std::vector<ModuleNumber>& ends) {
  if (!running_) return;
  const Quiet quiet;
  for (const ModuleNumber module : ends) {
    book_.end_backward(module);
    write_end(module, thread, Phase::Backward);
  }
  book_.finish_backward(thread);
  if (log_) log_->close_scopes(thread, Phase::Backward);
  std::erase(backward_threads_, thread);
  attribution_.set_creates_graph(thread, false);
}

void Tracker::begin_optimizer() {
  const Quiet quiet;
  attribution_.settle(this_thread().id);
  attribution_.begin_optimizer(this_thread().id);
  if (log_) log_->begin_optimizer(this_thread().id);
}

void Tracker::end_optimizer() {
  const Quiet quiet;
  attribution_.end_optimizer(this_thread().id);
  if (log_) log_->end_optimizer(this_thread().id);
}

bool Tracker::in_optimizer() {
  const Quiet quiet;
  return attribution_.in_optimizer(this_thread().id);
}

void Tracker::capture_out_of_memory(std::int64_t wanted, const std::string& device) {
  const Quiet quiet;
  remember_out_of_memory(wanted, device);
}

// Called with the recorder's lock held.
void Tracker::remember_out_of_memory(std::int64_t wanted, const std::string& device) {
  if (!running_) return;
  OutOfMemory found{wanted, device, attribution_.current(), {}, {}};
  for (const OpenCall& call : open_calls_) found.open_modules.push_back(names_[call.module]);
  if (log_) {
    found.largest = log_->largest(20);
    log_->mark("out of memory: " + std::to_string(wanted) + " bytes wanted on " + device);
  }
  out_of_memory_ = std::move(found);
}

std::optional<Tracker::OutOfMemory> Tracker::last_out_of_memory() {
  const Quiet quiet;
  return out_of_memory_;
}

void Tracker::finish() {
  const Quiet quiet;
  if (!log_) return;
  if (const auto dropped = Recorder::instance().dropped())
    log_->diagnose("events-dropped", "events were lost because the ring buffer was full",
                   static_cast<std::int64_t>(dropped));
  attribution_.set_listener(nullptr);
  log_->finish();
  log_.reset();
}

std::size_t Tracker::events() {
  const Quiet quiet;
  return log_ ? log_->events() : 0;
}

Rows Tracker::current() {
  const Quiet quiet;
  attribution_.settle(this_thread().id);
  return attribution_.current();
}

Rows Tracker::peak() {
  const Quiet quiet;
  return attribution_.peak();
}

attribution::ModuleStats Tracker::stats(ModuleNumber module) {
  const Quiet quiet;
  return book_.stats(module);
}

Rows Tracker::local_peak(ModuleNumber module) {
  const Quiet quiet;
  return book_.local_peak(module);
}

bool Tracker::has_stats(ModuleNumber module) {
  const Quiet quiet;
  return book_.has_stats(module);
}

bool Tracker::is_active(ModuleNumber module) {
  const Quiet quiet;
  return book_.is_active(module);
}

void Tracker::clear_modules() {
  const Quiet quiet;
  book_.clear();
}

std::size_t Tracker::storage_count() {
  const Quiet quiet;
  return attribution_.storage_count();
}

}  // namespace tidemark::recorder
