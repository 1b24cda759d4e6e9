// The slow obvious replay: every moment of a tape, each computed from scratch.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tidemark/engine/tape/tape.h"

namespace tidemark::test {

struct SlowStorage {
  std::int64_t requested = 0, allocated = 0;
  Category category = Category::Unknown;
  std::size_t device = 0;
  std::int64_t born = 0;  // the event
  ScopeId owner;          // the scope that labelled it last, else the one it was born in
};

struct SlowRow {
  std::map<Category, std::int64_t> categories;  // allocated; only those with bytes
  std::int64_t allocated = 0, requested = 0;

  bool operator==(const SlowRow&) const = default;
  CategoryBytes as_array() const;
};

// The state after one event.
struct SlowMoment {
  std::map<std::uint32_t, SlowStorage> alive;
  std::vector<SlowRow> rows;  // by device of the tables
  std::int64_t step = 0;
};

// One scope call; `end` is the last event for a call that was left open.
struct SlowSpan {
  ScopeId scope;
  Phase phase = Phase::Other;
  std::int64_t begin = 0, end = 0;
  std::int64_t inputs = 0, outputs = 0;
};

struct SlowRun {
  explicit SlowRun(const Tape& tape);

  const Tape& tape;
  std::vector<SlowMoment> moments;               // by event
  std::vector<SlowSpan> spans;                   // in the order of ends; left open: newest first
  std::map<std::string, std::int64_t> problems;  // by the code of the diagnostic

  std::size_t device_count() const { return tape.tables().devices().size(); }
  const std::string& device_name(std::size_t device) const {
    return tape.tables().devices()[device].name;
  }
};

}  // namespace tidemark::test
