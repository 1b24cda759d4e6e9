// What is known of one storage, for those who ask by its key.
#include "tidemark/libtorch/attribution/attribution.h"

namespace tidemark::attribution {

std::optional<Category> Attribution::category_of(StorageKey key) const {
  const StorageNumber number = index_.find(key);
  if (number == KeyIndex::kNone || storages_[number].state != State::Counted) return std::nullopt;
  return storages_[number].category;
}

std::optional<std::int64_t> Attribution::bytes_of(StorageKey key) const {
  const StorageNumber number = index_.find(key);
  if (number == KeyIndex::kNone || storages_[number].state != State::Counted) return std::nullopt;
  return storages_[number].bytes;
}

std::uint8_t Attribution::device_of(StorageKey key) const {
  const StorageNumber number = index_.find(key);
  return number == KeyIndex::kNone ? 0 : storages_[number].device;
}

std::optional<StorageNumber> Attribution::number_of(StorageKey key) const {
  const StorageNumber number = index_.find(key);
  if (number == KeyIndex::kNone) return std::nullopt;
  return number;
}

}  // namespace tidemark::attribution
