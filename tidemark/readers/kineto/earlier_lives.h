// Which storage of those that were there before the trace a death means: nobody knows their
// addresses, so it is the first of that size that is used no more.
#pragma once

#include <cstdint>
#include <functional>
#include <queue>
#include <unordered_map>
#include <utility>
#include <vector>

#include "tidemark/engine/base/ids.h"

namespace tidemark::kineto {

// Both are O(log n): a trace may have as many deaths as storages.
class EarlierLives {
 public:
  void add(StorageId storage, std::int64_t bytes, std::int64_t last_use_ns) {
    of_size_[bytes].in_use.emplace(last_use_ns, storage.value);
  }
  // None where each of them is larger, smaller or still used. Times never go back.
  StorageId take(std::int64_t bytes, std::int64_t time_ns);

 private:
  using LastUse = std::pair<std::int64_t, std::uint32_t>;
  template <class T>
  using LeastFirst = std::priority_queue<T, std::vector<T>, std::greater<>>;
  struct OneSize {
    LeastFirst<LastUse> in_use;
    LeastFirst<std::uint32_t> unused;  // storages are numbered as they are added
  };

  std::unordered_map<std::int64_t, OneSize> of_size_;
};

}  // namespace tidemark::kineto
