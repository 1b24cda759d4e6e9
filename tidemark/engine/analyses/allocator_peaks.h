// The highest moments of each GPU's caching allocator: an observer for the answers that need them.
#pragma once

#include <vector>

#include "tidemark/engine/analyses/selection.h"
#include "tidemark/engine/answers/alloc.h"
#include "tidemark/engine/answers/run.h"
#include "tidemark/engine/replay/replay.h"

namespace tidemark {

// How the allocator of a run was set up: what the tape says of it, or the caller.
AllocatorSettings settings_of(const RunFacts& run, Diagnostics& diagnostics);
// An allocator with such settings on the run's GPU, as the run's version of PyTorch has it.
AllocatorOptions allocator_of(const RunFacts& run, const AllocatorSettings& settings);

class AllocatorPeaks {
 public:
  static constexpr Needs kNeeds = {.columns = {.stream = true}};

  struct Answer {
    struct Device {
      DeviceId device;
      AllocatorPeak peak;
      std::int64_t retries = 0, failures = 0;
    };
    std::vector<Device> devices;  // GPUs that have held something
    Diagnostics diagnostics;      // none

    // Null for a device without an allocator.
    const Device* find(DeviceId device) const;
  };

  AllocatorPeaks(const Tables& tables, const AllocatorOptions& options, Selection selection = {})
      : blocks_(tables, options), selection_(std::move(selection)) {}

  void see(const Event& e, const Change& change, const Replay& replay) {
    if (is_about_pool(e.kind)) return blocks_.take_pool(e);
    if (!changes_storage(e.kind) && e.kind != Kind::Step) return;
    if (e.kind != Kind::Step) blocks_.take(e, change.before, change.after);
    if (!is_chosen(selection_.step, replay.now().step)) return;
    if (e.kind == Kind::Step) {
      for (std::size_t d = 0; d < peaks_.size(); ++d) look(device_numbered(d), e, replay.now());
      return;
    }
    if (change.after.alive()) look(change.after.device(), e, replay.now());
    else if (change.before.alive()) look(change.before.device(), e, replay.now());
  }
  Answer answer(const Replay& replay) const;

 private:
  struct Highest {
    AllocatorPeak peak;
    Moment reserved_at;
    Event reserved_event;
  };
  void look(DeviceId device, const Event& e, const Moment& now) {
    const CachingAllocator* allocator = blocks_.allocator(device);
    if (!allocator) return;
    if (device.value >= peaks_.size()) [[unlikely]]
      peaks_.resize(device.value + std::size_t{1});
    Highest& highest = peaks_[device.value];
    const PoolCounters& all = allocator->counters().all;
    if (all.allocated.current > highest.peak.allocated_bytes) {
      highest.peak.allocated_bytes = all.allocated.current;
      highest.peak.active_bytes = all.active.current;
      highest.peak.reserved_bytes = all.reserved.current;
      highest.peak.fragmented_bytes = all.reserved.current - all.active.current;
    }
    if (all.reserved.current <= highest.peak.reserved_peak_bytes) return;
    highest.peak.reserved_peak_bytes = all.reserved.current;
    highest.reserved_at = now;
    highest.reserved_event = e;
  }

  BlockAccounting blocks_;
  Selection selection_;
  std::vector<Highest> peaks_;  // by device
};

}  // namespace tidemark
