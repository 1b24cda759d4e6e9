// Two heaps for each size: what is still used, by its last use, and what is not, by its number.
#include "tidemark/readers/kineto/earlier_lives.h"

namespace tidemark::kineto {

StorageId EarlierLives::take(std::int64_t bytes, std::int64_t time_ns) {
  const auto found = of_size_.find(bytes);
  if (found == of_size_.end()) return {};
  auto& [in_use, unused] = found->second;
  for (; !in_use.empty() && in_use.top().first <= time_ns; in_use.pop())
    unused.push(in_use.top().second);
  if (unused.empty()) return {};
  const StorageId storage(unused.top());
  unused.pop();
  return storage;
}

}  // namespace tidemark::kineto
