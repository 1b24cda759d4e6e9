// Growth of the state table, kept out of the hot path.
#include "tidemark/tape/storage_states.h"

namespace tidemark {

void StorageStates::grow(std::uint32_t subject) {
  states_.resize(static_cast<std::size_t>(subject) + 1);
}

}  // namespace tidemark
