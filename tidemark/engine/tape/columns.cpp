// Growth of the event columns, all at once, and rows out of their middle.
#include "tidemark/engine/tape/columns.h"

#include <algorithm>

namespace tidemark {

void EventColumns::reserve(std::size_t capacity) {
  if (capacity <= capacity_) return;
  time_ns_.reallocate(capacity);
  bytes_.reallocate(capacity);
  subject_.reallocate(capacity);
  scope_.reallocate(capacity);
  stack_.reallocate(capacity);
  call_.reallocate(capacity);
  stream_.reallocate(capacity);
  kind_.reallocate(capacity);
  category_.reallocate(capacity);
  phase_.reallocate(capacity);
  device_.reallocate(capacity);
  capacity_ = capacity;
}

void EventColumns::grow_to(std::size_t size) {
  if (size > capacity_) reserve(std::max(size, capacity_ + capacity_ / 2));
  size_ = size;
}

EventRows EventColumns::rows(std::size_t first, std::size_t count) {
  const auto of = [&](auto& column) { return std::span(column.data() + first, count); };
  return {of(time_ns_), of(bytes_), of(subject_),  of(scope_), of(stack_), of(call_),
          of(stream_),  of(kind_),  of(category_), of(phase_), of(device_)};
}

}  // namespace tidemark
