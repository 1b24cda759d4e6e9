// Counters and snapshots of the allocators, under the names that torch.cuda gives them.
#include "python/phantom/allocator_answers.h"

#include <pybind11/stl.h>

#include <string>
#include <utility>
#include <vector>

#include "tidemark/libtorch/phantom/log/session.h"

namespace py = pybind11;

namespace tidemark::phantom {
namespace {

template <class Ask>
auto ask(int device, Ask&& question) {
  return storage_log()->with_allocators([&](DeviceAllocators& all) {
    return question(all.of(static_cast<c10::DeviceIndex>(device)));
  });
}

py::dict family(const Stat& stat) {
  py::dict told;
  told["current"] = stat.current;
  told["peak"] = stat.peak;
  told["allocated"] = stat.total;
  told["freed"] = stat.freed();
  return told;
}

py::dict pools(const AllocatorCounters& c, Stat PoolCounters::*stat) {
  py::dict told;
  told["all"] = family(c.all.*stat);
  told["small_pool"] = family(c.small.*stat);
  told["large_pool"] = family(c.large.*stat);
  return told;
}

constexpr std::pair<const char*, Stat PoolCounters::*> kFamilies[] = {
    {"allocation", &PoolCounters::blocks},
    {"segment", &PoolCounters::segments},
    {"active", &PoolCounters::active_blocks},
    {"inactive_split", &PoolCounters::inactive_splits},
    {"allocated_bytes", &PoolCounters::allocated},
    {"reserved_bytes", &PoolCounters::reserved},
    {"active_bytes", &PoolCounters::active},
    {"inactive_split_bytes", &PoolCounters::inactive_split},
    {"requested_bytes", &PoolCounters::requested},
};

py::dict stats(int device) {
  const auto [c, largest] = ask(device, [](const CachingAllocator& allocator) {
    return std::pair(allocator.counters(), allocator.options().settings.max_split_bytes);
  });
  py::dict told;
  for (const auto& [name, stat] : kFamilies) told[name] = pools(c, stat);
  told["oversize_allocations"] = family(c.oversize_blocks);
  told["oversize_segments"] = family(c.oversize_segments);
  told["num_alloc_retries"] = c.retries;
  told["num_ooms"] = c.ooms;
  told["max_split_size"] = largest == AllocatorSettings::kUnlimited ? -1 : largest;
  told["num_sync_all_streams"] = c.synchronisations;
  told["num_device_alloc"] = c.device_allocs;
  told["num_device_free"] = c.device_frees;
  return told;
}

const char* state_of(const BlockFacts& block) {
  if (block.is_allocated) return "active_allocated";
  return block.is_active ? "active_awaiting_free" : "inactive";
}

py::dict told_of(const SegmentFacts& segment, const PoolName& pool, int device) {
  py::dict told;
  std::int64_t allocated = 0, active = 0, requested = 0;
  py::list blocks;
  for (const BlockFacts& block : segment.blocks) {
    py::dict one;
    one["address"] = block.address;
    one["size"] = block.size;
    one["requested_size"] = block.requested;
    one["state"] = state_of(block);
    one["frames"] = py::list();
    blocks.append(one);
    if (block.is_allocated) allocated += block.size;
    if (block.is_active) active += block.size, requested += block.requested;
  }
  told["device"] = device;
  told["address"] = segment.address;
  told["total_size"] = segment.size;
  told["allocated_size"] = allocated;
  told["active_size"] = active;
  told["requested_size"] = requested;
  told["stream"] = segment.stream;
  told["segment_type"] = segment.is_small ? "small" : "large";
  told["segment_pool_id"] = py::make_tuple(pool.of_graph, pool.of_user);
  told["is_expandable"] = segment.is_expandable;
  told["frames"] = py::list();
  told["blocks"] = blocks;
  return told;
}

py::list snapshot(int device) {
  const auto index = static_cast<c10::DeviceIndex>(device);
  std::vector<std::pair<SegmentFacts, PoolName>> found;
  storage_log()->with_allocators([&](DeviceAllocators& all) {
    for (SegmentFacts& segment : all.of(index).snapshot()) {
      const PoolName pool = all.pools(index).name_of(segment.pool);
      found.emplace_back(std::move(segment), pool);
    }
  });
  py::list told;
  for (const auto& [segment, pool] : found) told.append(told_of(segment, pool, device));
  return told;
}

using PoolPair = std::pair<std::int64_t, std::int64_t>;  // as torch has it

void bind_private_pools(py::module_& m) {
  const auto name_of = [](const PoolPair& id) { return PoolName{id.first, id.second}; };
  const auto index = [](int device) { return static_cast<c10::DeviceIndex>(device); };
  m.def("share_pool", [=](int device, const PoolPair& pool) {
    storage_log()->share_pool(index(device), name_of(pool));
  });
  m.def("release_pool", [=](int device, const PoolPair& pool, bool gives_back) {
    storage_log()->release_pool(index(device), name_of(pool), gives_back);
  });
  m.def("open_way", [=](int device, const PoolPair& pool, bool of_this_thread) {
    storage_log()->open_way(index(device), name_of(pool), of_this_thread);
  });
  m.def("close_way", [=](int device, const PoolPair& pool) {
    storage_log()->close_way(index(device), name_of(pool));
  });
  m.def("pool_users", [=](int device, const PoolPair& pool) {
    return storage_log()->with_allocators(
        [&](DeviceAllocators& all) { return all.pools(index(device)).users(name_of(pool)); });
  });
}

}  // namespace

void bind_allocator_answers(py::module_& m) {
  m.def("allocator_stats", &stats);
  m.def("allocator_snapshot", &snapshot);
  // Allocated, its peak, reserved, its peak: what programs ask for at every step.
  m.def("memory_held", [](int device) {
    return ask(device, [](const CachingAllocator& allocator) {
      const PoolCounters& all = allocator.counters().all;
      return py::make_tuple(all.allocated.current, all.allocated.peak, all.reserved.current,
                            all.reserved.peak);
    });
  });
  m.def("reset_peak",
        [](int device) { ask(device, [](CachingAllocator& all) { all.reset_peaks(); }); });
  m.def("reset_totals",
        [](int device) { ask(device, [](CachingAllocator& all) { all.reset_totals(); }); });
  m.def("empty_cache", [] { storage_log()->empty_caches(); });
  bind_private_pools(m);
  m.def("set_memory_fraction", [](int device, double fraction) {
    storage_log()->with_allocators([&](DeviceAllocators& all) {
      all.set_fraction(static_cast<c10::DeviceIndex>(device), fraction);
    });
  });
  m.def("set_allocator_settings", [](const std::string& text) {
    const AllocatorSettings settings = parse_allocator_settings(text);
    storage_log()->with_allocators([&](DeviceAllocators& all) { all.set_settings(settings); });
  });
}

}  // namespace tidemark::phantom
