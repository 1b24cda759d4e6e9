// Walks through a trace in the order of time: spans begin and end, memory changes.
#pragma once

#include <cstdint>
#include <queue>
#include <vector>

#include "tidemark/readers/kineto/trace_contents.h"

namespace tidemark::kineto {

// What begins together begins with the longest: it is around the others. Memory that changes at
// one time keeps the order of the file. The first time becomes 0.
void sort_by_time(TraceContents& trace);

// More spans than a program nests: whoever walks looks through those that are open.
inline constexpr std::uint32_t kMostOpen = 1 << 14;
[[noreturn]] void refuse_open_spans();

// Calls begin(span, number), end(span, number) and change(memory row, number) of a sorted trace.
// Memory that changes when a span begins or ends changes inside of it. Throws Error(BadFormat)
// where a thread has more than kMostOpen spans open.
template <class Begin, class Change, class End>
void walk_in_time(const TraceContents& trace, Begin&& begin, Change&& change, End&& end) {
  struct Ending {
    std::int64_t time_ns;
    std::uint32_t span;
    // The earliest on top; of several at once, the innermost.
    bool operator<(const Ending& other) const {
      return time_ns != other.time_ns ? time_ns > other.time_ns : span < other.span;
    }
  };
  std::priority_queue<Ending> endings;
  std::vector<std::uint32_t> open(trace.threads.size());
  const auto end_until = [&](std::int64_t time_ns) {
    while (!endings.empty() && endings.top().time_ns <= time_ns) {
      const std::uint32_t span = endings.top().span;
      endings.pop();
      --open[trace.spans[span].thread];
      end(trace.spans[span], span);
    }
  };
  std::uint32_t row = 0;
  const auto change_until = [&](std::int64_t time_ns) {
    for (; row < trace.memory.size() && trace.memory[row].time_ns < time_ns; ++row) {
      end_until(trace.memory[row].time_ns - 1);
      change(trace.memory[row], row);
    }
  };
  for (std::uint32_t i = 0; i < trace.spans.size(); ++i) {
    const Span& span = trace.spans[i];
    change_until(span.start_ns);
    end_until(span.start_ns);
    if (++open[span.thread] > kMostOpen) refuse_open_spans();
    begin(span, i);
    endings.push({span.end_ns, i});
  }
  change_until(INT64_MAX);
  end_until(INT64_MAX);
}

}  // namespace tidemark::kineto
