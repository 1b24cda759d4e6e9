// Growth of the state table, kept out of the hot path.
#include "tidemark/engine/tape/storage_states.h"

#include <algorithm>

namespace tidemark {

void StorageStates::grow(std::uint32_t subject) {
  reserve(std::max<std::size_t>(subject + std::size_t{1}, size_ + size_ / 2));
}

void StorageStates::reserve(std::size_t size) {
  if (size <= size_) return;
  if (size_ == 0) {
    states_.allocate_zeros(size);
  } else {
    states_.reallocate(size);
    std::fill(states_.data() + size_, states_.data() + size, StorageState());
  }
  size_ = size;
}

}  // namespace tidemark
