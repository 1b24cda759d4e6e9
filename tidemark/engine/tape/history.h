// What the rows so far say about the next one: storages, open scopes, the phase, the time.
//
// A call of the builder and a line of text say little, and the rest is as it was: a free has the
// size that its storage has. The builder fills that in, and the text form leaves it out again.
#pragma once

#include "tidemark/engine/base/saturating.h"
#include "tidemark/engine/tape/open_calls.h"
#include "tidemark/engine/tape/storage_states.h"

namespace tidemark {

class History {
 public:
  // The next row of this kind and subject, as it is when nobody says otherwise.
  Event usual(Kind kind, std::uint32_t subject = Event().subject) const {
    Event row;
    row.kind = kind;
    row.subject = subject;
    row.time_ns = next_time_ns_;
    row.phase = phase_;
    row.scope = open_.innermost();
    if (is_about_storage(kind) && kind != Kind::Alloc && subject < storages_.size()) {
      const StorageState& known = storages_[StorageId(subject)];
      row.bytes = known.bytes();
      row.category = known.category();
      row.device = known.device();
    }
    return row;
  }

  void learn(const Event& row) {
    if (is_about_storage(row.kind)) storages_.apply(row);
    if (row.kind == Kind::ScopeBegin && row.scope) open_.begin(row.scope, row.phase, rows_);
    if (row.kind == Kind::ScopeEnd) end_scope(row);
    if (row.kind == Kind::Phase) phase_ = row.phase;
    ++rows_;
    pass_time(row);
  }
  // The row after this one is a nanosecond later; nothing else is learned.
  void pass_time(const Event& row) { next_time_ns_ = add_saturating(row.time_ns, 1); }
  void set_time(std::int64_t time_ns) { next_time_ns_ = time_ns; }

  Phase phase() const { return phase_; }
  const OpenCalls& open() const { return open_; }
  const StorageStates& storages() const { return storages_; }

 private:
  void end_scope(const Event& row) {
    const OpenCalls::Slot meant = open_.meant(row.scope, row.phase);
    if (meant != OpenCalls::kNone) open_.end(meant);
  }

  StorageStates storages_;
  OpenCalls open_;
  std::int64_t rows_ = 0;
  std::int64_t next_time_ns_ = 0;
  Phase phase_ = Phase::Other;
};

}  // namespace tidemark
