// A finished run: events in columns, and the tables their ids point into. Immutable.
#pragma once

#include <cstdint>
#include <vector>

#include "tidemark/engine/base/diagnostics.h"
#include "tidemark/engine/tape/columns.h"
#include "tidemark/engine/tape/tables.h"

namespace tidemark {

class Tape {
 public:
  Tape() = default;
  Tape(Tables tables, EventColumns events, Diagnostics diagnostics = {});

  std::size_t size() const { return events_.size(); }
  Event operator[](std::size_t event) const { return events_[event]; }
  const EventColumns& events() const { return events_; }
  const Tables& tables() const { return tables_; }
  // What the source or the reader of this tape could not do right.
  const Diagnostics& diagnostics() const { return diagnostics_; }

  // The step an event belongs to; everything before the first step event is step 0.
  std::int64_t step_at(std::size_t event) const;
  std::int64_t step_count() const { return static_cast<std::int64_t>(step_begins_.size()); }

 private:
  Tables tables_;
  EventColumns events_;
  Diagnostics diagnostics_;
  std::vector<std::size_t> step_begins_;
};

}  // namespace tidemark
