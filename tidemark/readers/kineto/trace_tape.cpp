// Writes a walk through a trace: calls, scopes, phases, steps, births and deaths.
#include "tidemark/readers/kineto/trace_tape.h"

#include <algorithm>

#include "tidemark/engine/base/error.h"
#include "tidemark/readers/device_order.h"
#include "tidemark/readers/kineto/device_totals.h"
#include "tidemark/readers/kineto/thread_stack.h"
#include "tidemark/readers/kineto/time_walk.h"

namespace tidemark::kineto {
namespace {

class Walk {
 public:
  Walk(TraceContents& trace, const StorageLabels& labels)
      : trace_(trace), labels_(labels), builder_(trace.builder), threads_(trace.threads.size()) {
    if (!labels.births.empty()) storages_.resize(trace.memory.size());
  }

  void run() {
    begin_devices();
    walk_in_time(
        trace_, [&](const Span& span, std::uint32_t number) { begin(span, number); },
        [&](const MemoryRow& row, std::uint32_t number) { change_memory(row, number); },
        [&](const Span& span, std::uint32_t number) { finish(span, number); });
  }

 private:
  ThreadStack& stack_of(std::uint16_t thread) { return threads_[thread]; }

  void begin_devices() {
    std::vector<bool> has_begun(trace_.devices.size());
    for (DeviceId device : add_devices(builder_.tables(), trace_.devices))
      devices_.emplace_back(device, builder_);
    builder_.set_time(0);
    for (const MemoryRow& row : trace_.memory)
      if (!has_begun[row.device.value]) {
        has_begun[row.device.value] = true;
        devices_[row.device.value].begin(row);
        builder_.set_time(0);
      }
    for (const EarlierStorage& one : labels_.earlier) {
      earlier_.push_back(devices_[one.device.value].add_earlier(one));
      builder_.set_time(0);
    }
  }

  void set_phase(Phase phase) {
    if (builder_.phase() == phase) return;
    builder_.set_time(now_ns_);
    builder_.set_phase(phase);
    builder_.set_time(now_ns_);
  }

  void begin(const Span& span, std::uint32_t number) {
    now_ns_ = span.start_ns;
    relabel();
    ThreadStack& stack = stack_of(span.thread);
    OpenSpan open{.span = number, .kind = span.kind, .row = span.row};
    builder_.set_time(now_ns_);
    if (is_call(span.kind)) begin_call(span, stack, open);
    else if (span.kind == SpanKind::Step) begin_step();
    else begin_scope(span, stack, open);
    stack.push(open);
  }

  void begin_step() {
    set_phase(Phase::Other);
    builder_.begin_step();
  }

  // Only the outermost operators are calls of the tape: the others are how they are made.
  void begin_call(const Span& span, ThreadStack& stack, OpenSpan& open) {
    const bool is_backward = span.kind == SpanKind::Engine;
    if (is_backward) {
      set_phase(Phase::Backward);
      if (const auto forward = forwards_.find(span.sequence); forward != forwards_.end())
        open.scope = forward->second;
    } else if (span.sequence != kNoNumber && !span.has_forward && !stack.in_backward()) {
      if (builder_.phase() != Phase::Optimizer) set_phase(Phase::Forward);
      // The last operator that sees a number is the one whose node gets it.
      if (const ScopeId scope = stack.scope()) forwards_[span.sequence] = scope;
    }
    open.is_outermost_call = span.kind == SpanKind::Operator && !stack.has_operator();
    if (!open.is_outermost_call) return;
    Place place{.call = CallId(span.row)};
    place.scope = open.scope ? open.scope : stack.scope();
    builder_.begin_call(CallId(span.row), place);
  }

  void begin_scope(const Span& span, ThreadStack& stack, OpenSpan& open) {
    if (span.kind == SpanKind::Optimizer) set_phase(Phase::Optimizer);
    else if (span.kind == SpanKind::Module && builder_.phase() != Phase::Optimizer)
      set_phase(stack.in_backward() ? Phase::Recompute : Phase::Forward);
    open.scope = scope_of(span, stack);
    open.phase = builder_.phase();
    builder_.begin_scope(open.scope);
  }

  // A module keeps the path of its first call; its name is of one instance.
  ScopeId scope_of(const Span& span, const ThreadStack& stack) {
    ScopeId& known = scopes_[span.row];
    if (known) return known;
    Tables& tables = builder_.tables();
    std::string path(tables.strings[StringId(span.row)]);
    if (span.kind == SpanKind::Module)
      if (const ScopeId around = stack.scope_of_module())
        path = std::string(tables.scope_path(around)) + "." + path;
    return known = tables.scope(path);
  }

  void finish(const Span& span, std::uint32_t number) {
    ThreadStack& stack = stack_of(span.thread);
    const OpenSpan open = stack.pop(number);
    now_ns_ = span.end_ns;
    builder_.set_time(now_ns_);
    if (open.is_outermost_call) {
      Place place{.call = CallId(span.row)};
      place.scope = stack.scope();
      return builder_.end_call(CallId(span.row), place);
    }
    if (is_call(span.kind) || span.kind == SpanKind::Step) return;
    Place place;
    place.phase = open.phase;
    builder_.end_scope(open.scope, place);
    if (span.kind == SpanKind::Optimizer) set_phase(Phase::Other);
    if (builder_.phase() == Phase::Recompute && !stack.in_recompute()) set_phase(Phase::Backward);
  }

  // Labels that have changed by now.
  void relabel() {
    for (; next_label_ < labels_.changes.size() && labels_.changes[next_label_].time_ns <= now_ns_;
         ++next_label_) {
      const NewLabel& label = labels_.changes[next_label_];
      const StorageId storage =
          label.memory_row != kNoNumber ? storages_[label.memory_row] : earlier_[label.earlier];
      if (!storage || !builder_.storages()[storage].alive()) continue;
      builder_.set_time(now_ns_);
      builder_.relabel(storage, label.category);
    }
  }

  void change_memory(const MemoryRow& row, std::uint32_t number) {
    now_ns_ = row.time_ns;
    relabel();
    const ThreadStack& stack = stack_of(row.thread);
    Place place{.call = stack.call()};
    place.scope = stack.scope();
    builder_.set_time(now_ns_);
    if (row.is_out_of_memory) return note_failure(row, place);
    if (row.bytes == 0) return;
    const Category category = storages_.empty() ? Category::Unknown : labels_.births[number];
    const StorageId storage = devices_[row.device.value].add(row, category, place);
    if (!storages_.empty()) storages_[number] = storage;
  }

  void note_failure(const MemoryRow& row, const Place& place) {
    Tables& tables = builder_.tables();
    if (!tables.meta().contains("oom.device")) {
      tables.set_meta("oom.device", trace_.devices[row.device.value]);
      tables.set_meta("oom.wanted_bytes", std::to_string(row.bytes));
      if (row.allocated != kNoTotal)
        tables.set_meta("oom.allocated_bytes", std::to_string(row.allocated));
      tables.set_meta("oom.event", std::to_string(builder_.size()));
    }
    builder_.mark("out of memory", place);
  }

  TraceContents& trace_;
  const StorageLabels& labels_;
  TapeBuilder& builder_;
  std::vector<ThreadStack> threads_;
  std::vector<DeviceTotals> devices_;
  std::vector<StorageId> storages_;  // by memory row; empty where no labels are known
  std::vector<StorageId> earlier_;   // of labels_; none: it is not told apart
  std::size_t next_label_ = 0;
  std::unordered_map<std::uint32_t, ScopeId> scopes_;    // of names
  std::unordered_map<std::uint32_t, ScopeId> forwards_;  // by autograd's numbers
  std::int64_t now_ns_ = 0;
};

}  // namespace

Tape tape_of_trace(TraceContents contents, const StorageLabels& labels) {
  if (contents.memory.empty())
    throw Error(ErrorCode::BadFormat, "the trace has no memory events", {},
                "record it with torch.profiler.profile(profile_memory=True)");
  sort_by_time(contents);
  if (labels.births.empty())
    contents.builder.diagnose("no-tensors", Severity::Note, "trace",
                              "a profiler's trace names no tensors, so categories are Unknown; an "
                              "execution trace of the same run (--with) has them");
  Walk(contents, labels).run();
  return contents.builder.finish();
}

}  // namespace tidemark::kineto
