// Looks through a handful of open spans.
#include "tidemark/readers/kineto/thread_stack.h"

#include <algorithm>

namespace tidemark::kineto {

OpenSpan& ThreadStack::push(const OpenSpan& span) {
  open_.push_back(span);
  if (span.kind == SpanKind::Operator) ++operators_;
  if (span.kind == SpanKind::Engine) ++engines_;
  return open_.back();
}

OpenSpan ThreadStack::pop(std::uint32_t span) {
  const auto found = std::find_if(open_.rbegin(), open_.rend(),
                                  [&](const OpenSpan& one) { return one.span == span; });
  if (found == open_.rend()) return {};
  const OpenSpan popped = *found;
  if (popped.kind == SpanKind::Operator) --operators_;
  if (popped.kind == SpanKind::Engine) --engines_;
  open_.erase(std::next(found).base());
  return popped;
}

CallId ThreadStack::call() const {
  for (const OpenSpan& one : open_)
    if (one.kind == SpanKind::Operator) return CallId(one.row);
  for (auto one = open_.rbegin(); one != open_.rend(); ++one)
    if (is_call(one->kind)) return CallId(one->row);
  return {};
}

ScopeId ThreadStack::scope() const {
  for (auto one = open_.rbegin(); one != open_.rend(); ++one)
    if (one->scope) return one->scope;
  return {};
}

ScopeId ThreadStack::scope_of_module() const {
  for (auto one = open_.rbegin(); one != open_.rend(); ++one)
    if (one->kind == SpanKind::Module) return one->scope;
  return {};
}

bool ThreadStack::in_recompute() const {
  for (auto one = open_.rbegin(); one != open_.rend(); ++one) {
    if (one->kind == SpanKind::Module) return engines_ > 0;
    if (one->kind == SpanKind::Engine) return false;
  }
  return false;
}

}  // namespace tidemark::kineto
