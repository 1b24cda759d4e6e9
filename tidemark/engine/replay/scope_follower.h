// Follows the calls of scopes through a run: which are open, and which one an event means.
#pragma once

#include "tidemark/engine/base/diagnostics.h"
#include "tidemark/engine/tape/event.h"
#include "tidemark/engine/tape/open_calls.h"

namespace tidemark {

class ScopeFollower {
 public:
  // Finds the call that the event means, and opens it where it begins.
  void enter(const Event& e, std::int64_t event) {
    switch (e.kind) {
      case Kind::ScopeBegin: meant_ = open_.begin(e.scope, e.phase, event); break;
      case Kind::ScopeEnd:
        meant_ = open_.meant(e.scope, e.phase);
        if (meant_ == OpenCalls::kNone) [[unlikely]]
          note_unknown_end(event);
        break;
      case Kind::Input:
      case Kind::Output: meant_ = open_.meant(e.scope, e.phase); break;
      default: break;
    }
  }
  // Closes the call that the event has ended.
  void leave(const Event& e) {
    if (e.kind == Kind::ScopeEnd && meant_ != OpenCalls::kNone) open_.end(meant_);
  }

  // Of the event entered last, if it is a begin, an end, an input or an output; a call that ends
  // is open until the event is left. kNone where no such scope is open.
  OpenCalls::Slot meant() const { return meant_; }
  const OpenCalls& open() const { return open_; }
  // Ends of scopes that were not open.
  const Diagnostics& diagnostics() const { return diagnostics_; }
  // Those and, with the run over, the calls that never ended.
  Diagnostics final_diagnostics() const;

 private:
  void note_unknown_end(std::int64_t event);

  OpenCalls open_;
  OpenCalls::Slot meant_ = OpenCalls::kNone;
  Diagnostics diagnostics_;
};

}  // namespace tidemark
