// Asks the allocator of each GPU for blocks, and gives them back.
#include "tidemark/engine/replay/block_accounting.h"

#include <utility>

#include "tidemark/engine/base/rounding.h"

namespace tidemark {

void BlockAccounting::learn_devices() {
  for (std::size_t d = gpus_.size(); d < tables_->devices().size(); ++d) {
    gpus_.emplace_back();
    if (granularity_of(tables_->devices()[d].name) == kCudaGranularity)
      gpus_.back().allocator.emplace(options_);
  }
}

// A number whose pool was released stands for a new one, which may have the place of another that
// is no more.
PoolId BlockAccounting::pool_in_use(Gpu& gpu, std::uint32_t number) {
  if (number == 0) return kDefaultPool;
  const auto known = gpu.pools.find(number);
  if (known != gpu.pools.end() && known->second.is_used) return known->second.id;
  const PoolId made = gpu.allocator->add_pool();
  std::erase_if(gpu.pools, [&](const auto& former) { return former.second.id == made; });
  gpu.pools[number] = {made, true};
  return made;
}

// While births come from a private pool the allocator takes a graph to be captured.
void BlockAccounting::take_pool(const Event& e) {
  if (e.device.value >= gpus_.size()) learn_devices();
  Gpu& gpu = gpus_[e.device.value];
  if (!gpu.allocator) return;
  if (e.kind == Kind::PoolUse) {
    gpu.pool = pool_in_use(gpu, e.subject);
    return gpu.allocator->set_capturing(e.subject != 0);
  }
  if (e.kind == Kind::CacheEmpty && e.subject == 0) return gpu.allocator->empty_cache();
  const auto known = gpu.pools.find(e.subject);
  if (known == gpu.pools.end()) return;
  if (e.kind == Kind::CacheEmpty) gpu.allocator->empty_pool(known->second.id);
  else if (std::exchange(known->second.is_used, false))
    gpu.allocator->release_pool(known->second.id);
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
  if (block != kNoBlock) return gpus_[state.device().value].allocator->size_of(block);
  return rounded_up(state.bytes(), tables_->devices()[state.device().value].granularity);
}

BlockId BlockAccounting::request(const Event& e, const StorageState& state) {
  if (state.device().value >= gpus_.size()) learn_devices();
  Gpu& gpu = gpus_[state.device().value];
  if (!gpu.allocator || state.bytes() <= 0) return kNoBlock;
  return gpu.allocator->malloc(state.bytes(), stream_of(e), gpu.pool);
}

void BlockAccounting::free(BlockId block, DeviceId device) {
  if (block != kNoBlock) gpus_[device.value].allocator->free(block);
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
