// Counts who uses a pool, and finds the way that a thread's births go.
#include "tidemark/libtorch/phantom/log/private_pools.h"

#include <algorithm>
#include <stdexcept>

namespace tidemark::phantom {
namespace {

bool holds_memory(const CachingAllocator& allocator, const PrivatePools& pools,
                  const PoolName& name) {
  const std::vector<SegmentFacts> held = allocator.snapshot();
  return std::any_of(held.begin(), held.end(), [&](const SegmentFacts& segment) {
    return pools.name_of(segment.pool) == name;
  });
}

}  // namespace

void PrivatePools::share(CachingAllocator& allocator, const PoolName& name) {
  const bool was_left =
      !pools_.contains(name) && std::find(names_.begin(), names_.end(), name) != names_.end();
  if (was_left && holds_memory(allocator, *this, name))
    throw std::runtime_error(
        "a memory pool whose last user is gone still holds memory: PyTorch refuses to use it again "
        "(use_count > 0 INTERNAL ASSERT FAILED)");
  Pool& pool = pools_[name];
  if (pool.users++ > 0) return allocator.share_pool(pool.id);
  pool.id = allocator.add_pool();
  pool.number = ++made_;
  if (names_.size() <= pool.id) names_.resize(pool.id + std::size_t{1});
  names_[pool.id] = name;
}

std::optional<PrivatePools::Pool> PrivatePools::release(CachingAllocator& allocator,
                                                        const PoolName& name) {
  const auto found = pools_.find(name);
  if (found == pools_.end()) return std::nullopt;
  allocator.release_pool(found->second.id);
  if (--found->second.users > 0) return std::nullopt;
  const Pool last = found->second;
  pools_.erase(found);
  return last;
}

void PrivatePools::open_way(CachingAllocator& allocator, const PoolName& name,
                            std::optional<std::uint32_t> thread) {
  ways_.push_back({name, pools_.at(name), thread});
  allocator.set_capturing(true);
}

void PrivatePools::close_way(CachingAllocator& allocator, const PoolName& name) {
  const auto last =
      std::find_if(ways_.rbegin(), ways_.rend(), [&](const Way& way) { return way.name == name; });
  if (last != ways_.rend()) ways_.erase(std::next(last).base());
  allocator.set_capturing(has_ways());
}

PrivatePools::Pool PrivatePools::pool_of(std::uint32_t thread) const {
  const auto way = std::find_if(ways_.rbegin(), ways_.rend(), [&](const Way& one) {
    return !one.thread || *one.thread == thread;
  });
  return way == ways_.rend() ? Pool() : way->pool;
}

void PrivatePools::tell(std::uint32_t number) {
  told_ = number;
  if (were_told_.size() <= number) were_told_.resize(number + std::size_t{1});
  were_told_[number] = true;
}

std::int64_t PrivatePools::users(const PoolName& name) const {
  const auto found = pools_.find(name);
  return found == pools_.end() ? 0 : found->second.users;
}

}  // namespace tidemark::phantom
