// How many bytes a storage's block has, as the caching allocator of its device would hand it out.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "tidemark/engine/allocator/caching_allocator.h"
#include "tidemark/engine/tape/storage_states.h"
#include "tidemark/engine/tape/tables.h"

namespace tidemark {

// GPUs have a caching allocator each; storages elsewhere are charged as their device rounds.
class BlockAccounting {
 public:
  // Charged bytes of a storage, before and after an event.
  struct Charge {
    std::int64_t before = 0, after = 0;
  };

  // The tables may grow while a run goes on; they must outlive the accounting.
  BlockAccounting(const Tables& tables, const AllocatorOptions& options)
      : tables_(&tables), options_(options) {}

  // Follows an event whose subject is a storage.
  Charge take(const Event& e, const StorageState& before, const StorageState& after);
  // Follows an event whose subject is a pool.
  void take_pool(const Event& e);
  // Null for a device that has none, or no storage yet.
  const CachingAllocator* allocator(DeviceId device) const {
    const bool is_known = device.value < gpus_.size() && gpus_[device.value].allocator;
    return is_known ? &*gpus_[device.value].allocator : nullptr;
  }

 private:
  struct Pool {
    PoolId id = kDefaultPool;
    bool is_used = false;
  };
  struct Gpu {
    std::optional<CachingAllocator> allocator;      // none where the device is no GPU
    std::unordered_map<std::uint32_t, Pool> pools;  // private ones, by the tape's numbers
    PoolId pool = kDefaultPool;                     // that births come from
  };
  static PoolId pool_in_use(Gpu& gpu, std::uint32_t number);
  std::int64_t charge_of(const Event& e, const StorageState& state) const;
  void learn_devices();
  BlockId request(const Event& e, const StorageState& state);
  void free(BlockId block, DeviceId device);
  std::uint32_t stream_of(const Event& e) const;

  const Tables* tables_;
  AllocatorOptions options_;
  std::vector<Gpu> gpus_;        // by device
  std::vector<BlockId> blocks_;  // by storage
};

}  // namespace tidemark
