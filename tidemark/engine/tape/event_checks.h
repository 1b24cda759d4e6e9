// Whether the events of a file point into their tables.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "tidemark/engine/tape/columns.h"
#include "tidemark/engine/tape/tables.h"

namespace tidemark {

class EventChecks {
 public:
  explicit EventChecks(const Tables& tables);

  // Whether the next column, in the order of the file, is in range by itself.
  template <class T>
  bool next_in_range(std::span<const T> values);
  // Whether what a row's columns say together is in range. `first` is the first row's number.
  bool pairs_in_range(const EventRows& rows, std::size_t first) const;

 private:
  // How many rows the numbers of a column point into.
  struct Limit {
    std::uint64_t rows = UINT64_MAX;
    bool may_be_none = false;  // the highest number of its type
  };

  std::array<Limit, EventColumns::kCount> limits_;
  std::size_t next_ = 0;
  std::size_t strings_;
};

}  // namespace tidemark
