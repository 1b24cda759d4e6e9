// The highest total since any past event, without looking at every interval at every event.
//
// Only rises are noted, and a rise buries every lower one before it. What is left falls from
// bottom to top; the answer for "since event b" is the first entry at or after b:
//
//   total      9 |  x
//                |     x         entries after event 6: (1, 9) (2, 7) (5, 4)
//              4 |  .  .  .  x   highest since 3: (5, 4)
//                +--1--2--3--5--->
//
// Each event is pushed and popped at most once: O(1) amortised; a question is a binary search.
#pragma once

#include <cstdint>
#include <vector>

#include "tidemark/replay/ledger.h"

namespace tidemark {

class PeakStack {
 public:
  struct Entry {
    std::int64_t event = 0;
    LedgerRow row;
  };

  // The total has risen to that of `row` at this event.
  void note_rise(std::int64_t event, const LedgerRow& row) {
    while (!entries_.empty() && entries_.back().row.allocated <= row.allocated)
      entries_.pop_back();
    entries_.push_back({event, row});
  }

  // The highest rise at or after an event; null when there was none.
  const Entry* highest_since(std::int64_t event) const;
  // For when nobody will ask about the past any more.
  void clear() { entries_.clear(); }
  std::size_t size() const { return entries_.size(); }

 private:
  std::vector<Entry> entries_;
};

}  // namespace tidemark
