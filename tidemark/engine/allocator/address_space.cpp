// Keeps the gaps between segments.
#include "tidemark/engine/allocator/address_space.h"

#include <algorithm>

#include "tidemark/engine/base/rounding.h"

namespace tidemark {
namespace {

// Room below the first chunk: it stays free while a program begins, and then fills. Here that is
// when a segment comes that does not fit into one chunk.
constexpr std::int64_t kRoom = std::int64_t{414} << 20;
constexpr std::int64_t kBelowRoom = std::int64_t{2} << 20;  // nobody's, so that it stays apart
constexpr std::int64_t kTakenByDriver = std::int64_t{64} << 20;

}  // namespace

std::int64_t AddressSpace::take(std::int64_t bytes) {
  const auto is_room = [&](const Gap& gap) { return gap.address == room_ && gap.size == kRoom; };
  const auto gap = std::find_if(gaps_.begin(), gaps_.end(), [&](const Gap& one) {
    return one.size >= bytes && (!is_room(one) || bytes > kChunk);
  });
  if (gap == gaps_.end()) return take_chunk(bytes);
  std::int64_t behind = 0;
  if (is_room(*gap)) {
    room_ = kNowhere;  // a gap like others from now on
    if (gap->size - bytes >= kTakenByDriver) behind = kTakenByDriver;
  }
  return cut(gap, bytes + behind);
}

std::int64_t AddressSpace::take_chunk(std::int64_t bytes) {
  const bool is_first = lowest_chunk_ == kTop;
  const std::int64_t chunk = rounded_up(bytes, kChunk);
  if (lowest_chunk_ < chunk) lowest_chunk_ = kTop;  // what lived there is long dead
  const std::int64_t address = lowest_chunk_ -= chunk;
  if (chunk > bytes) put_gap(address + bytes, chunk - bytes);
  if (is_first && address > kRoom + kBelowRoom) {
    room_ = address - kRoom;
    put_gap(room_, kRoom);
    lowest_chunk_ -= kRoom + kBelowRoom;
  }
  return address;
}

std::int64_t AddressSpace::cut(Gaps::iterator gap, std::int64_t bytes) {
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
