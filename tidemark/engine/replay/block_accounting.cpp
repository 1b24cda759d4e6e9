// Asks the allocator of each GPU for blocks, and gives them back.
#include "tidemark/engine/replay/block_accounting.h"

#include "tidemark/engine/base/rounding.h"

namespace tidemark {

void BlockAccounting::learn_devices() {
  for (std::size_t d = allocators_.size(); d < tables_->devices().size(); ++d) {
    allocators_.emplace_back();
    if (granularity_of(tables_->devices()[d].name) == kCudaGranularity)
      allocators_.back().emplace(options_);
  }
}

// Streams are numbered as they come; the default stream is the first in any case.
std::uint32_t BlockAccounting::stream_of(const Event& e) const {
  const auto& streams = tables_->streams();
  if (e.stream.value >= streams.size() || streams[e.stream.value] == 0) return 0;
  return std::uint32_t{e.stream.value} + 1;
}

std::int64_t BlockAccounting::charge_of(const Event& e, const StorageState& state) const {
  if (!state.alive()) return 0;
  const BlockId block = blocks_[e.subject];
  if (block != kNoBlock) return allocators_[state.device().value]->size_of(block);
  return rounded_up(state.bytes(), tables_->devices()[state.device().value].granularity);
}

BlockId BlockAccounting::request(const Event& e, const StorageState& state) {
  if (state.device().value >= allocators_.size()) learn_devices();
  auto& allocator = allocators_[state.device().value];
  return allocator && state.bytes() > 0 ? allocator->malloc(state.bytes(), stream_of(e)) : kNoBlock;
}

void BlockAccounting::free(BlockId block, DeviceId device) {
  if (block != kNoBlock) allocators_[device.value]->free(block);
}

// A resize is a new block and then the death of the old one. A storage that is born while it lives
// was freed before, though nobody said so.
BlockAccounting::Charge BlockAccounting::take(const Event& e, const StorageState& before,
                                              const StorageState& after) {
  if (e.subject >= blocks_.size()) blocks_.resize(e.subject + blocks_.size() / 2 + 1, kNoBlock);
  Charge charge{charge_of(e, before), 0};
  BlockId& block = blocks_[e.subject];
  const BlockId old = block;
  if (e.kind == Kind::Resize && after.alive() && after.bytes() != before.bytes()) {
    block = request(e, after);
    free(old, before.device());
  } else if (e.kind == Kind::Alloc) {
    if (before.alive()) free(old, before.device());
    block = request(e, after);
  } else if (before.alive() && !after.alive()) {
    free(old, before.device());
    block = kNoBlock;
  }
  charge.after = charge_of(e, after);
  return charge;
}

}  // namespace tidemark
