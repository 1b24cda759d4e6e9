// What the caching allocator holds for a run, under one setting or several.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tidemark/engine/answers/parts.h"
#include "tidemark/engine/base/diagnostics.h"

namespace tidemark {

// The highest moments of one GPU under one setting. Blocks are at least as large as the requests,
// so allocated bytes may be above those of a report without an allocator.
struct AllocatorPeak {
  std::int64_t allocated_bytes = 0;   // in use, at their highest
  std::int64_t active_bytes = 0;      // then in use, or waiting for another stream
  std::int64_t reserved_bytes = 0;    // then taken from the GPU
  std::int64_t fragmented_bytes = 0;  // reserved and not active then
  std::int64_t reserved_peak_bytes = 0;
  When reserved_at;  // when that was reached
  bool operator==(const AllocatorPeak&) const = default;
};

struct SettingOutcome {
  std::string settings;  // as in PYTORCH_CUDA_ALLOC_CONF; empty for the defaults
  AllocatorPeak peak;    // on a GPU that has enough
  // On the GPU of the run: last tries after the cache was emptied, requests that failed all the
  // same.
  std::optional<std::int64_t> retries, failures;
  bool operator==(const SettingOutcome&) const = default;
};

struct DeviceSettings {
  std::string device;
  std::vector<SettingOutcome> outcomes;  // the run's own setting first
  std::string best;                      // the setting worth having; empty: none is
  std::int64_t saved_bytes = 0;          // of the reserved peak, with the best
  bool operator==(const DeviceSettings&) const = default;
};

struct AllocAnswer {
  std::vector<DeviceSettings> devices;     // GPUs in the tape's order
  std::optional<std::int64_t> room_bytes;  // what the GPU has for the allocator; none: not known
  Diagnostics diagnostics;
  bool operator==(const AllocAnswer&) const = default;
};

}  // namespace tidemark
