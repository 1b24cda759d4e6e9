// PyTorch's caching allocator of one GPU, without the GPU: which block a request gets, and what the
// allocator holds for it.
//
//   request --round--> size --best fit--> a free block -------------------> split --> block
//                                 |                                          ^
//                                 +--> collect garbage --> new memory -------+
//                                        |  refused          ^
//                                        +--> free blocks ---+--> out of memory
//
// A block that is freed joins its free neighbours. Blocks stand in a table, and the free ones in
// trees of links between them, so an event allocates no memory of the host.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "tidemark/engine/allocator/address_space.h"
#include "tidemark/engine/allocator/block.h"
#include "tidemark/engine/allocator/counters.h"
#include "tidemark/engine/allocator/free_blocks.h"
#include "tidemark/engine/allocator/segment.h"
#include "tidemark/engine/allocator/settings.h"

namespace tidemark {

// When the work of other streams on a freed block is over. A GPU's pace is not known here.
enum class EventsPass : std::uint8_t {
  AtNextMalloc,  // the GPU has caught up whenever somebody asks
  WhenTold,      // by pass_events, or where the allocator waits for all streams
};

struct AllocatorOptions {
  AllocatorSettings settings;
  std::int64_t device_bytes = AllocatorSettings::kUnlimited;   // what the device can give
  std::int64_t address_bytes = AllocatorSettings::kUnlimited;  // what it has: 9/8 are a segment's
  std::optional<std::int64_t> limit_bytes;  // of the process: a fraction of the device's memory
  EventsPass events_pass = EventsPass::AtNextMalloc;
};

class CachingAllocator {
 public:
  explicit CachingAllocator(const AllocatorOptions& options = {});

  // A block for 1 byte or more; kNoBlock where memory has run out. Streams are small numbers.
  BlockId malloc(std::int64_t bytes, std::uint32_t stream = 0, PoolId pool = kDefaultPool);
  // The block may not be freed twice.
  void free(BlockId block);
  // The block is used on that stream, too: when it is freed, it waits for it.
  void record_stream(BlockId block, std::uint32_t stream);
  // The other streams have passed this freed block.
  void pass_events(BlockId block);
  // Gives back what is free, of private pools only where nobody uses them; while a graph is
  // captured of those alone.
  void empty_cache();

  // Private pools, of CUDA graphs: each has as many users as graphs share it. When the last has
  // released it, its free memory may go back to the device; with all of it goes the pool's number.
  PoolId add_pool();
  void share_pool(PoolId pool);
  void release_pool(PoolId pool);
  // The same as empty_cache() for one pool.
  void empty_pool(PoolId pool);
  // While a graph is captured no event is asked for, and the cache is not emptied for a request.
  void set_capturing(bool is_capturing) { is_capturing_ = is_capturing; }

  void set_limit(std::optional<std::int64_t> bytes) { options_.limit_bytes = bytes; }
  // Blocks that were handed out under other settings stay as they are.
  void set_settings(const AllocatorSettings& settings) { options_.settings = settings; }
  const AllocatorOptions& options() const { return options_; }

  const AllocatorCounters& counters() const { return counters_; }
  void reset_peaks() { counters_.reset_peaks(); }
  void reset_totals() { counters_.reset_totals(); }
  std::int64_t size_of(BlockId block) const { return blocks_[block].size; }
  std::int64_t address_of(BlockId block) const { return blocks_[block].address; }
  // All segments by address, each with its blocks.
  std::vector<SegmentFacts> snapshot() const;

  // What comes from the device and goes back is written there, until null is given.
  void tell_segments(std::vector<SegmentEvent>* events) { segment_events_ = events; }
  // The next segment gets this address: what a real driver answered.
  void place_next_segment(std::optional<std::int64_t> address) { next_place_ = address; }

 private:
  struct Request {
    std::int64_t size = 0, requested = 0;
    std::uint32_t stream = 0;
    std::uint32_t pool = 0;  // an index into pools_
  };
  // Small and large blocks have pools of their own, in each private pool as well.
  struct Pool {
    std::vector<FreeBlocks> free;                // by stream
    std::vector<std::vector<BlockId>> unmapped;  // by stream, then by address
    std::int64_t searches = 0;                   // counted only where garbage is collected
    std::int64_t held = 0;                       // bytes of the device
  };
  static constexpr std::uint32_t kLarge = 0, kSmall = 1;
  static bool is_small(std::uint32_t pool) { return (pool & 1) == kSmall; }

  // Finding a block.
  BlockId find_free(const Request& request);
  Block first_block(std::uint32_t segment, const Request& request) const;
  BlockId best_fit(const Request& request, const FreeBlocks& free) const;
  BlockId beside_growth(BlockId block, const FreeBlocks& free) const;
  BlockId take_new_memory(const Request& request);
  BlockId hand_out(BlockId block, const Request& request);
  bool splits(const Block& block, std::int64_t size) const;
  BlockId split(BlockId block, std::int64_t size);

  // Free blocks and their neighbours.
  std::uint64_t tie_of(const Block& block) const;
  FreeBlocks& free_blocks(const Block& block) { return pools_[block.pool].free[block.stream]; }
  void put_free(BlockId id);
  void take_free(BlockId id) { free_blocks(blocks_[id]).erase(id, blocks_); }
  void retire(BlockId id);
  std::int64_t join(BlockId id, BlockId neighbour);

  // Events of other streams.
  void wait_for_streams(BlockId block);
  void finish(BlockId block);
  bool has_events() const { return !waiting_.empty() || !deferred_.empty(); }
  void pass_all_events();
  void synchronise();

  // Expandable segments.
  BlockId extend(const Request& request);
  BlockId extendable(const Request& request);
  BlockId new_reserve(const Request& request);
  bool map(BlockId id, std::int64_t bytes);
  void unmap(BlockId id);
  BlockId cut_free(BlockId from, std::int64_t address, std::int64_t bytes);
  void put_unmapped(BlockId id);
  void take_unmapped(BlockId id);
  bool has_room(BlockId id, std::int64_t bytes) const;

  // Giving memory back.
  bool collects_garbage() const {
    return options_.limit_bytes && options_.settings.garbage_threshold > 0;
  }
  void collect_garbage();
  bool release_for(const Request& request);
  bool release_largest(const Request& request, std::int64_t wanted);
  void release_cached();
  void release_pool_blocks(std::uint32_t pool);
  bool give_back(PoolId pool);
  void release(BlockId block);
  bool is_whole_segment(BlockId id) const {
    return !blocks_[id].is_split() && !blocks_[id].is_expandable;
  }

  BlockId new_memory(const Request& request);
  bool has_on_device(std::int64_t bytes) const;
  std::uint32_t add_segment(std::int64_t bytes, std::int64_t page = 0);
  void remove_segment(std::uint32_t segment);
  void tell(SegmentAction action, std::int64_t address, std::int64_t bytes, std::uint32_t stream);
  PoolCounters& kind_of(std::uint32_t pool) {
    return is_small(pool) ? counters_.small : counters_.large;
  }
  template <class Change>
  void count(std::uint32_t pool, Change&& change) {
    change(counters_.all);
    change(kind_of(pool));
  }
  // The device has given so many bytes to a pool, or got them back.
  void add_reserved(std::uint32_t pool, std::int64_t bytes);
  void remove_reserved(std::uint32_t pool, std::int64_t bytes);
  Pool& pool_for(std::uint32_t pool, std::uint32_t stream);

  AllocatorOptions options_;
  AllocatorCounters counters_;
  BlockTable blocks_;
  std::vector<Pool> pools_;         // two for each of the next
  std::vector<std::int64_t> uses_;  // by PoolId; the default pool is never released
  std::vector<PoolId> released_, unused_pools_;
  std::vector<Segment> segments_;
  std::vector<std::uint32_t> unused_segments_;
  std::uint32_t registrations_ = 0;
  AddressSpace addresses_;
  std::optional<std::int64_t> next_place_;
  std::unordered_map<BlockId, std::vector<std::uint32_t>> other_streams_;  // by block in use
  std::vector<BlockId> waiting_;   // freed, for other streams, in the order of their frees
  std::vector<BlockId> deferred_;  // the same, freed while a graph was captured
  std::vector<SegmentEvent>* segment_events_ = nullptr;
  bool is_capturing_ = false;
};

}  // namespace tidemark
