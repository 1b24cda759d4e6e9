// Private pools of the GPUs' allocators, as torch asks for them and as the tape tells of them.
//
// The tape has no pool at each birth: it is told when births begin to come from another one.
#include "tidemark/libtorch/phantom/log/storage_log.h"

namespace tidemark::phantom {

void StorageLog::tell_pool(Kind kind, c10::DeviceIndex device, std::uint32_t pool) {
  tape().tell_pool(kind, static_cast<std::uint8_t>(device), pool, thread_number(),
                   run_.attribution().phase_now(thread_number(), 0));
}

void StorageLog::tell_births_from(c10::DeviceIndex device, std::uint32_t pool) {
  PrivatePools& pools = allocators_.pools(device);
  if (pools.told() == pool) return;
  pools.tell(pool);
  tell_pool(Kind::PoolUse, device, pool);
}

PoolId StorageLog::pool_here(c10::DeviceIndex device) {
  const PrivatePools& pools = allocators_.pools(device);
  if (!pools.has_ways() && pools.told() == 0) [[likely]]
    return kDefaultPool;
  const PrivatePools::Pool pool = pools.pool_of(thread_number());
  tell_births_from(device, pool.number);
  return pool.id;
}

void StorageLog::share_pool(c10::DeviceIndex device, const PoolName& pool) {
  if (is_over_) return;
  std::lock_guard lock(lock_);
  allocators_.pools(device).share(allocators_.of(device), pool);
}

// Only of a pool that something was born from has the tape been told.
void StorageLog::release_pool(c10::DeviceIndex device, const PoolName& name, bool gives_back) {
  if (is_over_) return;
  std::lock_guard lock(lock_);
  PrivatePools& pools = allocators_.pools(device);
  const auto pool = pools.release(allocators_.of(device), name);
  if (!pool) return;
  if (gives_back) allocators_.of(device).empty_pool(pool->id);
  if (!pools.was_told(pool->number)) return;
  tell_births_from(device, pools.innermost().number);
  tell_pool(Kind::PoolRelease, device, pool->number);
  if (gives_back) tell_pool(Kind::CacheEmpty, device, pool->number);
}

void StorageLog::open_way(c10::DeviceIndex device, const PoolName& name, bool of_this_thread) {
  if (is_over_) return;
  std::lock_guard lock(lock_);
  allocators_.pools(device).open_way(
      allocators_.of(device), name, of_this_thread ? std::optional(thread_number()) : std::nullopt);
}

void StorageLog::close_way(c10::DeviceIndex device, const PoolName& name) {
  if (is_over_) return;
  std::lock_guard lock(lock_);
  allocators_.pools(device).close_way(allocators_.of(device), name);
}

void StorageLog::empty_caches() {
  if (is_over_) return;
  std::lock_guard lock(lock_);
  for (c10::DeviceIndex device = 0; device < virtual_gpus().count(); ++device) {
    if (!allocators_.is_used(device)) continue;
    tell_births_from(device, allocators_.pools(device).innermost().number);
    allocators_.of(device).empty_cache();
    tell_pool(Kind::CacheEmpty, device, 0);
  }
}

}  // namespace tidemark::phantom
