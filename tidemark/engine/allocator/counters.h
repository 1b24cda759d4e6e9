// What the caching allocator counts: current, peak and total, for each kind of pool.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

namespace tidemark {

struct Stat {
  std::int64_t current = 0, peak = 0;
  std::int64_t total = 0;  // of all that was added

  void add(std::int64_t amount) {
    current += amount;
    // Wraps: a program may ask for more in all than 63 bits can say.
    total = static_cast<std::int64_t>(static_cast<std::uint64_t>(total) +
                                      static_cast<std::uint64_t>(amount));
    peak = std::max(peak, current);
  }
  void remove(std::int64_t amount) { current -= amount; }
  // Of all that was taken away again.
  std::int64_t freed() const {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(total) -
                                     static_cast<std::uint64_t>(current - at_reset_));
  }
  void reset_peak() { peak = current; }
  void reset_total() {
    at_reset_ = current;
    total = 0;
  }
  bool operator==(const Stat&) const = default;

 private:
  std::int64_t at_reset_ = 0;
};

// One set of these for the small pools, one for the large ones, one for all.
struct PoolCounters {
  Stat blocks, active_blocks, segments, inactive_splits;        // how many
  Stat allocated, active, reserved, requested, inactive_split;  // bytes

  template <class Visit>
  void for_each(Visit&& visit) {
    for (Stat* stat : {&blocks, &active_blocks, &segments, &inactive_splits, &allocated, &active,
                       &reserved, &requested, &inactive_split})
      visit(*stat);
  }
  bool operator==(const PoolCounters&) const = default;
};

struct AllocatorCounters {
  PoolCounters all, small, large;
  Stat oversize_blocks, oversize_segments;  // from max_split_size on
  std::int64_t retries = 0;                 // last tries after the cache was emptied
  std::int64_t ooms = 0;
  std::int64_t synchronisations = 0;  // of all streams
  std::int64_t device_allocs = 0, device_frees = 0;

  template <class Visit>
  void for_each(Visit&& visit) {
    for (PoolCounters* pool : {&all, &small, &large}) pool->for_each(visit);
    visit(oversize_blocks);
    visit(oversize_segments);
  }
  void reset_peaks() {
    for_each([](Stat& stat) { stat.reset_peak(); });
  }
  void reset_totals() {
    for_each([](Stat& stat) { stat.reset_total(); });
    retries = ooms = synchronisations = device_allocs = device_frees = 0;
  }
};

}  // namespace tidemark
