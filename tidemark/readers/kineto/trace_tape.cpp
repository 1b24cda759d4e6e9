// One walk over spans and memory events in the order of time; ends of spans wait in a heap.
#include "tidemark/readers/kineto/trace_tape.h"

#include <algorithm>
#include <queue>

#include "tidemark/engine/base/error.h"
#include "tidemark/readers/kineto/device_totals.h"
#include "tidemark/readers/kineto/thread_stack.h"

namespace tidemark::kineto {
namespace {

// What begins together begins with the longest: it is around the others.
bool begins_before(const Span& a, const Span& b) {
  return a.start_ns != b.start_ns ? a.start_ns < b.start_ns : a.end_ns > b.end_ns;
}

bool is_before(const MemoryRow& a, const MemoryRow& b) { return a.time_ns < b.time_ns; }

template <class Rows, class Order>
void sort_stably(Rows& rows, Order order) {
  if (!std::is_sorted(rows.begin(), rows.end(), order))
    std::stable_sort(rows.begin(), rows.end(), order);
}

class Walk {
 public:
  explicit Walk(TraceContents& trace)
      : trace_(trace), builder_(trace.builder), threads_(trace.threads.size()) {
    sort_stably(trace.spans, begins_before);
    sort_stably(trace.memory, is_before);
    origin_ns_ = trace.memory.front().time_ns;
    if (!trace.spans.empty()) origin_ns_ = std::min(origin_ns_, trace.spans.front().start_ns);
  }

  void run() {
    begin_devices();
    auto memory = trace_.memory.begin();
    for (std::uint32_t i = 0; i < trace_.spans.size(); ++i) {
      const Span& span = trace_.spans[i];
      for (; memory != trace_.memory.end() && memory->time_ns < span.start_ns; ++memory)
        change_memory(*memory);
      begin(span, i);
    }
    for (; memory != trace_.memory.end(); ++memory) change_memory(*memory);
    end_until(INT64_MAX);
  }

 private:
  struct End {
    std::int64_t time_ns;
    std::uint32_t span;
    // The earliest on top; of several at once, the innermost.
    bool operator<(const End& other) const {
      return time_ns != other.time_ns ? time_ns > other.time_ns : span < other.span;
    }
  };

  std::int64_t time_of(std::int64_t time_ns) const { return time_ns - origin_ns_; }
  ThreadStack& stack_of(std::uint16_t thread) { return threads_[thread]; }

  void begin_devices() {
    std::vector<bool> has_begun(builder_.tables().devices().size());
    for (std::size_t d = 0; d < has_begun.size(); ++d)
      devices_.emplace_back(device_numbered(d), builder_);
    builder_.set_time(0);
    for (const MemoryRow& row : trace_.memory)
      if (!has_begun[row.device.value]) {
        has_begun[row.device.value] = true;
        devices_[row.device.value].begin(row);
        builder_.set_time(0);
      }
  }

  void end_until(std::int64_t time_ns) {
    while (!ends_.empty() && ends_.top().time_ns <= time_ns) {
      const End end = ends_.top();
      ends_.pop();
      finish(trace_.spans[end.span], end.span);
    }
  }

  void set_phase(Phase phase) {
    if (builder_.phase() == phase) return;
    const std::int64_t now = time_of(now_ns_);
    builder_.set_time(now);
    builder_.set_phase(phase);
    builder_.set_time(now);
  }

  void begin(const Span& span, std::uint32_t number) {
    end_until(span.start_ns);
    now_ns_ = span.start_ns;
    ThreadStack& stack = stack_of(span.thread);
    OpenSpan open{.span = number, .kind = span.kind, .row = span.row};
    builder_.set_time(time_of(now_ns_));
    if (is_call(span.kind)) begin_call(span, stack, open);
    else if (span.kind == SpanKind::Step) begin_step();
    else begin_scope(span, stack, open);
    stack.push(open);
    ends_.push({span.end_ns, number});
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
    builder_.set_time(time_of(now_ns_));
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

  void change_memory(const MemoryRow& row) {
    end_until(row.time_ns - 1);
    now_ns_ = row.time_ns;
    const ThreadStack& stack = stack_of(row.thread);
    Place place{.call = stack.call()};
    place.scope = stack.scope();
    builder_.set_time(time_of(now_ns_));
    if (row.is_out_of_memory) return note_failure(row, place);
    if (row.bytes != 0) devices_[row.device.value].add(row, Category::Unknown, place);
  }

  void note_failure(const MemoryRow& row, const Place& place) {
    Tables& tables = builder_.tables();
    if (!tables.meta().contains("oom.device")) {
      tables.set_meta("oom.device", tables.devices()[row.device.value].name);
      tables.set_meta("oom.wanted_bytes", std::to_string(row.bytes));
      if (row.allocated != kNoTotal)
        tables.set_meta("oom.allocated_bytes", std::to_string(row.allocated));
      tables.set_meta("oom.event", std::to_string(builder_.size()));
    }
    builder_.mark("out of memory", place);
  }

  TraceContents& trace_;
  TapeBuilder& builder_;
  std::vector<ThreadStack> threads_;
  std::vector<DeviceTotals> devices_;
  std::priority_queue<End> ends_;
  std::unordered_map<std::uint32_t, ScopeId> scopes_;    // of names
  std::unordered_map<std::uint32_t, ScopeId> forwards_;  // by autograd's numbers
  std::int64_t origin_ns_ = 0, now_ns_ = 0;
};

}  // namespace

Tape tape_of_trace(TraceContents contents) {
  if (contents.memory.empty())
    throw Error(ErrorCode::BadFormat, "the trace has no memory events", {},
                "record it with torch.profiler.profile(profile_memory=True)");
  Walk(contents).run();
  return contents.builder.finish();
}

}  // namespace tidemark::kineto
