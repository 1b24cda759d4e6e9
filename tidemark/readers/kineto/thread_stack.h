// The spans that are open on one thread: which operator, scope and pass an event there belongs to.
#pragma once

#include <cstdint>
#include <vector>

#include "tidemark/engine/base/category.h"
#include "tidemark/readers/kineto/trace_rows.h"

namespace tidemark::kineto {

struct OpenSpan {
  std::uint32_t span = 0;  // its number
  SpanKind kind = SpanKind::Operator;
  std::uint32_t row = 0;
  ScopeId scope;  // of modules and regions, and of the engine's nodes that of their forward
  Phase phase = Phase::Other;      // in which its scope began
  bool is_outermost_call = false;  // it was written as a call of the tape
};

class ThreadStack {
 public:
  OpenSpan& push(const OpenSpan& span);
  // Takes the span off, wherever it stands.
  OpenSpan pop(std::uint32_t span);

  // The outermost operator of a library; else the innermost function.
  CallId call() const;
  bool has_operator() const { return operators_ > 0; }
  // The innermost that is known.
  ScopeId scope() const;
  // The innermost module, regions left out.
  ScopeId scope_of_module() const;
  bool in_backward() const { return engines_ > 0; }
  // A module runs inside of a backward node: it is computed again.
  bool in_recompute() const;

 private:
  std::vector<OpenSpan> open_;
  std::uint32_t operators_ = 0, engines_ = 0;
};

}  // namespace tidemark::kineto
