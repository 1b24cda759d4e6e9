// Searches, inserts and erases in chunks.
#include "tidemark/engine/allocator/free_blocks.h"

#include <algorithm>
#include <utility>

namespace tidemark {

std::size_t FreeBlocks::chunk_of(const FreeKey& key) const {
  std::size_t low = 0, count = fronts_.size();
  while (count > 1) {
    const std::size_t half = count / 2;
    if (!(key < fronts_[low + half].first)) low += half;
    count -= half;
  }
  return low;
}

// The first place in a chunk whose key is not smaller. The steps are the same for every key, and
// each is a choice between two numbers: nothing that a processor could foresee wrongly.
std::uint32_t FreeBlocks::slot_of(const Chunk& chunk, const FreeKey& key) {
  std::uint32_t slot = 0;
  for (std::uint32_t step = (kChunk + 1) / 2; step > 0; step /= 2)
    slot += chunk.sizes[slot + step - 1] < key.size ? step : 0;
  while (chunk.sizes[slot] == key.size && chunk.ties[slot] < key.tie && slot < chunk.count) ++slot;
  return slot;
}

FreeBlocks::Position FreeBlocks::find(const FreeKey& key) const {
  if (fronts_.empty()) return {};
  const std::size_t front = chunk_of(key);
  const Chunk& chunk = chunks_[fronts_[front].chunk];
  const std::uint32_t slot = slot_of(chunk, key);
  return slot < chunk.count ? Position{front, slot} : Position{front + 1, 0};
}

FreeBlocks::Position FreeBlocks::next(Position at) const {
  ++at.slot;
  return at.slot < chunks_[fronts_[at.chunk].chunk].count ? at : Position{at.chunk + 1, 0};
}

std::uint32_t FreeBlocks::new_chunk() {
  if (unused_.empty()) {
    chunks_.emplace_back();
    return static_cast<std::uint32_t>(chunks_.size() - 1);
  }
  const std::uint32_t chunk = unused_.back();
  unused_.pop_back();
  return chunk;
}

void FreeBlocks::halve(std::size_t front) {
  const std::uint32_t right = new_chunk();
  Chunk& from = chunks_[fronts_[front].chunk];
  Chunk& to = chunks_[right];
  const std::uint32_t kept = from.count / 2;
  to.count = from.count - kept;
  std::copy_n(from.sizes.begin() + kept, to.count, to.sizes.begin());
  std::copy_n(from.ties.begin() + kept, to.count, to.ties.begin());
  std::copy_n(from.blocks.begin() + kept, to.count, to.blocks.begin());
  std::fill(from.sizes.begin() + kept, from.sizes.end(), kPastAll);
  from.count = kept;
  fronts_.insert(fronts_.begin() + static_cast<std::ptrdiff_t>(front) + 1, {to.key(0), right});
}

void FreeBlocks::insert(const FreeKey& key, BlockId block) {
  if (fronts_.empty()) fronts_.push_back({key, new_chunk()});
  std::size_t front = chunk_of(key);
  if (chunks_[fronts_[front].chunk].count == kChunk) {
    halve(front);
    front = chunk_of(key);
  }
  Chunk& chunk = chunks_[fronts_[front].chunk];
  const std::uint32_t at = slot_of(chunk, key), end = chunk.count++;
  const auto open = [&](auto& values, auto value) {
    std::copy_backward(values.begin() + at, values.begin() + end, values.begin() + end + 1);
    values[at] = value;
  };
  open(chunk.sizes, key.size);
  open(chunk.ties, key.tie);
  open(chunk.blocks, block);
  if (at == 0) fronts_[front].first = key;
}

void FreeBlocks::erase(Position at) {
  const std::uint32_t number = fronts_[at.chunk].chunk;
  Chunk& chunk = chunks_[number];
  const auto close = [&](auto& values) {
    std::copy(values.begin() + at.slot + 1, values.begin() + chunk.count, values.begin() + at.slot);
  };
  close(chunk.sizes);
  close(chunk.ties);
  close(chunk.blocks);
  chunk.sizes[--chunk.count] = kPastAll;
  if (chunk.count > 0) {
    if (at.slot == 0) fronts_[at.chunk].first = chunk.key(0);
    return;
  }
  unused_.push_back(number);
  fronts_.erase(fronts_.begin() + static_cast<std::ptrdiff_t>(at.chunk));
}

}  // namespace tidemark
