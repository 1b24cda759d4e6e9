// Module calls and backwards as notes; questions under the recorder's lock.
#include "tidemark/libtorch/recorder/tracker.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <stdexcept>

#include "tidemark/libtorch/recorder/cuda_trace.h"
#include "tidemark/libtorch/recorder/gradients.h"

namespace tidemark::recorder {

using Quiet = Recorder::Quiet;

namespace {

bool any_differentiable(at::TensorList tensors) {
  return std::any_of(tensors.begin(), tensors.end(),
                     [](const at::Tensor& tensor) { return tensor.requires_grad(); });
}

// Calls under way on this thread that were given leaves: what they return tells how long the hooks
// on these are of use.
struct LeafCall {
  const Tracker* tracker;
  ModuleNumber module;
  Graph graph;
};
thread_local std::vector<LeafCall> t_leaf_calls;

// The graph of the innermost such call of this module; those inside it ended without a word.
Graph end_leaf_call(const Tracker* tracker, ModuleNumber module) {
  const auto call = std::find_if(t_leaf_calls.rbegin(), t_leaf_calls.rend(), [&](LeafCall& one) {
    return one.tracker == tracker && one.module == module;
  });
  if (call == t_leaf_calls.rend()) return nullptr;
  Graph graph = std::move(call->graph);
  const auto first = std::next(call).base();
  t_leaf_calls.erase(std::remove_if(first, t_leaf_calls.end(),
                                    [&](LeafCall& one) { return one.tracker == tracker; }),
                     t_leaf_calls.end());
  return graph;
}

// What this thread works for now, by tracker; those of which it does nothing special have none.
struct Purpose {
  std::uint64_t tracker;
  Category category;
};
thread_local std::vector<Purpose> t_purposes;

std::optional<Category> exchange_purpose(std::uint64_t tracker, std::optional<Category> purpose) {
  std::optional<Category> before;
  std::erase_if(t_purposes, [&](const Purpose& one) {
    if (one.tracker != tracker) return false;
    before = one.category;
    return true;
  });
  if (purpose) t_purposes.push_back({tracker, *purpose});
  return before;
}

std::atomic<std::uint64_t> g_trackers{0};

}  // namespace

Tracker::Tracker(const TrackerOptions& options)
    : options_(options), number_(++g_trackers), run_(options.rules, *options.scheme, options.tape) {
  Recorder::instance().attach(&run_);
}

Tracker::~Tracker() {
  if (is_orphan()) return;
  try_to([&] { stop(); });
  try_to([&] { finish(); });
  try_to([&] { Recorder::instance().detach(&run_); });
}

Recorder::Wanted Tracker::wanted() const {
  return {.operators = !options_.rules.count_at_birth,
          .outputs = outputs_,
          .times = !options_.tape.empty(),
          .origins = options_.origins,
          .blocks = options_.rules.counts_blocks};
}

Attribution& Tracker::attribution_here() {
  // Other threads have long left the operators of which nothing more is heard.
  run_.attribution().leave_all_operators();
  return run_.attribution();
}

void Tracker::start(bool outputs) {
  if (is_orphan())
    throw std::runtime_error(
        "this tracker was made before a fork and belongs to the parent process; "
        "make a new one in the child");
  if (running_) return;
  outputs_ = outputs;
  Recorder::instance().start(wanted());
  running_ = true;
  try {
    const Quiet quiet;
    run_.start(options_.rules.count_at_birth && !outputs);
  } catch (...) {
    stop();
    throw;
  }
  if (run_.awaits_step()) Recorder::instance().await_step();
}

void Tracker::stop() {
  if (is_orphan() || !running_.exchange(false)) return;
  Recorder::instance().stop(wanted());
  {
    const Quiet quiet;
    run_.stop(this_thread().id);
  }
  forget_awaited_leaves(weak_from_this());
  leaves_.forget();
}

ModuleNumber Tracker::add_module() {
  const Quiet quiet;
  return run_.add_module();
}

void Tracker::set_name(ModuleNumber module, const std::string& name) {
  const Quiet quiet;
  run_.set_name(module, name);
}

void Tracker::begin_forward(ModuleNumber module, at::TensorList inputs) {
  if (is_orphan()) return;
  Note note = Recorder::instance().here(NoteKind::ForwardBegan);
  const bool in_backward = current_backward() != -1;
  const bool awaits = !in_backward && any_differentiable(inputs);
  if (in_backward) note.flags |= attribution::kInBackward;
  if (!in_backward && !awaits) note.flags |= attribution::kEndsWithBackward;
  if (!in_backward && at::GradMode::is_enabled()) Recorder::instance().begin_step();
  tell_border(note, module, inputs);
  if (!awaits) return;
  Graph graph = await_gradients(inputs, Await::All, {&end_backward_of, weak_from_this(), module});
  if (graph) t_leaf_calls.push_back({this, module, std::move(graph)});
}

void Tracker::end_forward(ModuleNumber module, at::TensorList outputs, bool failed) {
  if (is_orphan()) return;
  Note note = Recorder::instance().here(NoteKind::ForwardEnded);
  const bool in_backward = current_backward() != -1;
  if (in_backward) note.flags |= attribution::kInBackward;
  if (failed) note.flags |= attribution::kFailed;
  tell_border(note, module, outputs);
  if (!in_backward)
    await_gradients(outputs, Await::First, {&begin_backward_of, weak_from_this(), module},
                    end_leaf_call(this, module));
}

void Tracker::abandon_forward(ModuleNumber module) {
  const Quiet quiet;
  attribution_here();
  run_.abandon_forward(module, this_thread().id);
}

void Tracker::begin_backward_of(void* tracker, std::uint32_t module, const Gradients&) {
  auto& self = *static_cast<Tracker*>(tracker);
  if (!self.is_running()) return;
  self.try_to([&] {
    self.follow_backward();
    self.tell_backward(NoteKind::BackwardBegan, module);
  });
}
void Tracker::end_backward_of(void* tracker, std::uint32_t module, const Gradients&) {
  auto& self = *static_cast<Tracker*>(tracker);
  if (self.is_running()) self.tell_backward(NoteKind::BackwardEnded, module);
}

void Tracker::tell_backward(NoteKind kind, ModuleNumber module) {
  Note note = Recorder::instance().here(kind);
  note.bytes = module;
  Recorder::instance().tell(run_, note);
}

// The first hook of a backward on a thread, of which every device has its own, asks the engine to
// be told of its end.
void Tracker::follow_backward() {
  const std::uint32_t thread = this_thread().id;
  const std::uint64_t here =
      std::uint64_t{thread} << 32 | static_cast<std::uint32_t>(current_backward());
  if (last_followed_.exchange(here, std::memory_order_relaxed) == here) return;
  std::optional<std::vector<ModuleNumber>> ends;
  {
    const Quiet quiet;
    ends = run_.begin_backward(thread, at::GradMode::is_enabled());
  }
  if (!ends) return;
  leaves_.follow_again();
  const auto self = weak_from_this();
  at_end_of_backward(
      [self, thread, ends = std::move(*ends)] {
        if (const auto tracker = self.lock()) tracker->finish_backward(thread, ends);
      },
      [self, thread] {
        if (const auto tracker = self.lock()) tracker->finish_backward(thread, {});
      });
}

void Tracker::finish_backward(std::uint32_t thread, const std::vector<ModuleNumber>& ends) {
  if (!is_running()) return;
  try_to([&] {
    const Quiet quiet;
    run_.finish_backward(thread, ends);
  });
}

void Tracker::begin_optimizer() {
  const Quiet quiet;
  run_.begin_optimizer(this_thread().id);
}

void Tracker::end_optimizer() {
  const Quiet quiet;
  run_.end_optimizer(this_thread().id);
  if (run_.awaits_step()) Recorder::instance().await_step();
}

void Tracker::set_in_closure(bool in_closure) {
  const Quiet quiet;
  run_.set_in_closure(this_thread().id, in_closure);
}

std::optional<Category> Tracker::set_purpose(std::optional<Category> purpose) {
  const std::optional<Category> before = exchange_purpose(number_, purpose);
  Note note = Recorder::instance().here(NoteKind::Purposed);
  note.bytes = purpose ? static_cast<std::int64_t>(*purpose) : -1;
  Recorder::instance().tell(run_, note);
  return before;
}

void Tracker::tell_moment(ModuleNumber module, attribution::Moment moment) {
  if (!is_running()) return;
  const Quiet quiet;
  attribution_here();
  run_.tell_moment(module, moment, this_thread().id, current_backward() != -1);
}

std::int64_t Tracker::steps_done() {
  const Quiet quiet;
  return run_.steps_done();
}

bool Tracker::has_born_in_optimizer() {
  const Quiet quiet;
  return run_.attribution().has_born_in_optimizer();
}

bool Tracker::in_optimizer() {
  const Quiet quiet;
  return run_.attribution().work(this_thread().id).in_optimizer;
}

void Tracker::capture_out_of_memory(std::int64_t wanted, const std::string& device) {
  const Quiet quiet;
  run_.run_out_of_memory(wanted, device);
}

std::optional<OutOfMemory> Tracker::last_out_of_memory() {
  const Quiet quiet;
  return run_.out_of_memory();
}

// What is freed meanwhile is in notes that are read afterwards.
void Tracker::adopt_cuda_memory() {
  const Quiet quiet;
  for (const CudaBlock& one : cuda_blocks_in_use())
    run_.adopt(one.key, one.requested_bytes, one.bytes, one.device);
}

void Tracker::set_meta(const std::string& key, const std::string& value) {
  const Quiet quiet;
  if (run_.tape()) run_.tape()->tables().set_meta(key, value);
}

void Tracker::diagnose(const std::string& code, const std::string& message) {
  const Quiet quiet;
  run_.diagnose(code, message);
}

void Tracker::finish() {
  if (is_orphan()) return;
  try_to([&] {
    const Quiet quiet;
    run_.finish();
  });
}

void Tracker::close_tape() {
  if (is_orphan()) return;
  try_to([&] {
    const Quiet quiet;
    run_.close_tape();
  });
}

std::optional<Tracker::Unsaved> Tracker::unsaved() {
  const Quiet quiet;
  if (!run_.written()) return std::nullopt;
  const RunFile& file = *run_.written()->file();
  if (file.problem().empty() && file.in_memory().empty()) return std::nullopt;
  return Unsaved{file.problem(), run_.written()->events_in_file(), file.bytes_in_file(),
                 file.in_memory(), file.has_dropped()};
}

std::size_t Tracker::events() {
  const Quiet quiet;
  return run_.written() ? run_.written()->events() : 0;
}

Rows Tracker::current() {
  const Quiet quiet;
  attribution_here().settle(this_thread().id);
  return run_.attribution().current();
}

Rows Tracker::peak() {
  const Quiet quiet;
  return attribution_here().peak();
}

attribution::ModuleStats Tracker::stats(ModuleNumber module) {
  const Quiet quiet;
  attribution_here();
  return run_.book().stats(module);
}

Rows Tracker::local_peak(ModuleNumber module) {
  const Quiet quiet;
  attribution_here();
  return run_.book().local_peak(module);
}

bool Tracker::has_stats(ModuleNumber module) {
  const Quiet quiet;
  return run_.book().has_stats(module);
}

CallBytes Tracker::last_call(ModuleNumber module) {
  const Quiet quiet;
  return run_.last_call(module);
}

bool Tracker::is_active(ModuleNumber module) {
  const Quiet quiet;
  return run_.book().is_active(module);
}

void Tracker::clear_modules() {
  const Quiet quiet;
  run_.clear_modules();
}

std::size_t Tracker::storage_count() {
  const Quiet quiet;
  return run_.attribution().storage_count();
}

}  // namespace tidemark::recorder
