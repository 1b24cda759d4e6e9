// The private pools of one GPU's allocator, under the names that torch gives them, and which of
// them a birth comes from: CUDA graphs that are captured and torch.cuda.use_mem_pool open a way to
// one.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "tidemark/engine/allocator/caching_allocator.h"

namespace tidemark::phantom {

// One of the two is 0: a graph that asks for no pool gets one of the first kind, handles and
// torch.cuda.MemPool are of the second. Both 0 is the pool that all share.
struct PoolName {
  std::int64_t of_graph = 0, of_user = 0;
  auto operator<=>(const PoolName&) const = default;
};

class PrivatePools {
 public:
  struct Pool {
    PoolId id = kDefaultPool;
    std::uint32_t number = 0;  // on the tape, from 1; 0 is the pool that all share
    std::int64_t users = 0;
  };

  // Another user of the pool, which is made anew; throws where one that was left holds memory.
  void share(CachingAllocator& allocator, const PoolName& name);
  // A user less; the pool where that was the last.
  std::optional<Pool> release(CachingAllocator& allocator, const PoolName& name);
  // From here births come from this pool, of all threads or of one: the innermost way wins.
  void open_way(CachingAllocator& allocator, const PoolName& name,
                std::optional<std::uint32_t> thread);
  void close_way(CachingAllocator& allocator, const PoolName& name);

  bool has_ways() const { return !ways_.empty(); }
  Pool pool_of(std::uint32_t thread) const;
  // Where whoever asks for no thread is sent: the innermost way.
  Pool innermost() const { return ways_.empty() ? Pool() : ways_.back().pool; }
  std::int64_t users(const PoolName& name) const;
  PoolName name_of(PoolId id) const { return id < names_.size() ? names_[id] : PoolName(); }

  // What the tape was told last: the number of the pool that births come from.
  std::uint32_t told() const { return told_; }
  void tell(std::uint32_t number);
  bool was_told(std::uint32_t number) const {
    return number < were_told_.size() && were_told_[number];
  }

 private:
  struct Way {
    PoolName name;
    Pool pool;
    std::optional<std::uint32_t> thread;
  };
  std::map<PoolName, Pool> pools_;  // that have users
  std::vector<PoolName> names_;     // by PoolId
  std::vector<Way> ways_;           // innermost last
  std::uint32_t made_ = 0, told_ = 0;
  std::vector<bool> were_told_;  // by number
};

}  // namespace tidemark::phantom
