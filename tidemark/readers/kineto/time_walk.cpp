// Sorts only what is not sorted: files often are.
#include "tidemark/readers/kineto/time_walk.h"

#include <algorithm>

#include "tidemark/engine/base/error.h"

namespace tidemark::kineto {
namespace {

bool begins_before(const Span& a, const Span& b) {
  return a.start_ns != b.start_ns ? a.start_ns < b.start_ns : a.end_ns > b.end_ns;
}

bool is_before(const MemoryRow& a, const MemoryRow& b) { return a.time_ns < b.time_ns; }

template <class Rows, class Order>
void sort_stably(Rows& rows, Order order) {
  if (!std::is_sorted(rows.begin(), rows.end(), order))
    std::stable_sort(rows.begin(), rows.end(), order);
}

}  // namespace

void sort_by_time(TraceContents& trace) {
  sort_stably(trace.spans, begins_before);
  sort_stably(trace.memory, is_before);
  std::int64_t first = trace.memory.empty() ? INT64_MAX : trace.memory.front().time_ns;
  if (!trace.spans.empty()) first = std::min(first, trace.spans.front().start_ns);
  for (Span& span : trace.spans) span.start_ns -= first, span.end_ns -= first;
  for (MemoryRow& row : trace.memory) row.time_ns -= first;
}

void refuse_open_spans() {
  throw Error(ErrorCode::BadFormat,
              "more than 16 384 events of one thread are open at once: they do not nest", {},
              "no program writes such a trace; was it put together from several?");
}

}  // namespace tidemark::kineto
