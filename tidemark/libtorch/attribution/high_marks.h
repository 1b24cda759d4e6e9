// The highest sample since any moment, for windows that begin and end in any order.
//
//   total  |  9
//          |        7              since a: 9
//          |              4   5    since b: 7
//          +--a-----b-----c----->  since c: 5   (4 is overtopped and forgotten)
//
// Samples that a later one overtops are dropped, so what is kept falls from old to new: a sample
// costs O(1) amortised however many windows are open, a question is a binary search. Of equal
// samples the first is the answer.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "tidemark/libtorch/attribution/row.h"

namespace tidemark::attribution {

class HighMarks {
 public:
  // `moment` never falls from call to call.
  void sample(std::int64_t moment, const Row& row) {
    while (!marks_.empty() && marks_.back().row.total < row.total) marks_.pop_back();
    // An equal sample says something new only to windows that began after the older one.
    if (!marks_.empty() && marks_.back().row.total == row.total &&
        marks_.back().moment >= last_begin_)
      return;
    marks_.push_back({moment, row});
  }

  // A window begins: it will ask about samples from this moment on.
  void begin(std::int64_t moment) { last_begin_ = std::max(last_begin_, moment); }

  // The highest sample at or after the moment; null if there was none.
  const Row* highest_since(std::int64_t moment) const {
    const auto first =
        std::lower_bound(marks_.begin(), marks_.end(), moment,
                         [](const Mark& mark, std::int64_t when) { return mark.moment < when; });
    return first == marks_.end() ? nullptr : &first->row;
  }

  // For when no window is open.
  void clear() { marks_.clear(); }
  std::size_t size() const { return marks_.size(); }

 private:
  struct Mark {
    std::int64_t moment;
    Row row;
  };
  std::vector<Mark> marks_;
  std::int64_t last_begin_ = 0;
};

}  // namespace tidemark::attribution
