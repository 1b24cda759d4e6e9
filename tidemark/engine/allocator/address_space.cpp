// Keeps the gaps between segments.
#include "tidemark/engine/allocator/address_space.h"

#include <algorithm>

#include "tidemark/engine/base/rounding.h"

namespace tidemark {

std::int64_t AddressSpace::take(std::int64_t bytes) {
  auto gap =
      std::find_if(gaps_.begin(), gaps_.end(), [&](const Gap& one) { return one.size >= bytes; });
  if (gap == gaps_.end()) {
    const std::int64_t chunk = rounded_up(bytes, kChunk);
    if (lowest_chunk_ < chunk) lowest_chunk_ = kTop;  // what lived there is long dead
    lowest_chunk_ -= chunk;
    if (chunk > bytes) put_gap(lowest_chunk_ + bytes, chunk - bytes);
    return lowest_chunk_;
  }
  const std::int64_t address = gap->address;
  gap->address += bytes;
  gap->size -= bytes;
  if (gap->size == 0) gaps_.erase(gap);
  return address;
}

std::int64_t AddressSpace::reserve(std::int64_t bytes) {
  if (next_reserve_ > INT64_MAX - bytes) next_reserve_ = kTop;
  const std::int64_t address = next_reserve_;
  next_reserve_ += bytes;
  return address;
}

void AddressSpace::give_back(std::int64_t address, std::int64_t bytes) {
  if (address < kTop) put_gap(address, bytes);
}

void AddressSpace::put_gap(std::int64_t address, std::int64_t bytes) {
  auto after = std::find_if(gaps_.begin(), gaps_.end(),
                            [&](const Gap& one) { return one.address > address; });
  if (after != gaps_.end() && address + bytes == after->address) {
    after->address = address;
    after->size += bytes;
  } else {
    after = gaps_.insert(after, {address, bytes});
  }
  if (after == gaps_.begin()) return;
  const auto before = after - 1;
  if (before->address + before->size != after->address) return;
  before->size += after->size;
  gaps_.erase(after);
}

}  // namespace tidemark
