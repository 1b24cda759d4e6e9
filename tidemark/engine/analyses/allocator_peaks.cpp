// Names what the allocators of a run have held at their highest.
#include "tidemark/engine/analyses/allocator_peaks.h"

#include "tidemark/engine/analyses/naming.h"
#include "tidemark/engine/base/error.h"

namespace tidemark {

AllocatorSettings settings_of(const RunFacts& run, Diagnostics& diagnostics) {
  AllocatorSettings settings;
  try {
    settings = parse_allocator_settings(run.allocator_settings);
  } catch (const Error& error) {
    diagnostics.add("allocator-settings", Severity::Warning, error.where(),
                    "the run's settings of the allocator are not understood, the usual ones were "
                    "taken: " +
                        error.message());
  }
  if (!settings.is_native)
    diagnostics.add("allocator-backend", Severity::Warning, "",
                    "the run used cudaMallocAsync, of which nothing is known here: what is "
                    "reserved is modelled as with PyTorch's own allocator");
  return settings;
}

AllocatorOptions allocator_of(const RunFacts& run, const AllocatorSettings& settings) {
  AllocatorOptions options;
  options.settings = settings;
  options.settings.tie_break = tie_break_of(run.torch_version);
  if (run.gpu.memory_bytes > 0) options.address_bytes = run.gpu.memory_bytes;
  return options;
}

const AllocatorPeaks::Answer::Device* AllocatorPeaks::Answer::find(DeviceId device) const {
  for (const Device& one : devices)
    if (one.device == device) return &one;
  return nullptr;
}

AllocatorPeaks::Answer AllocatorPeaks::answer(const Replay& replay) const {
  Answer answer;
  for (std::size_t d = 0; d < peaks_.size(); ++d) {
    const DeviceId device = device_numbered(d);
    const CachingAllocator* allocator = blocks_.allocator(device);
    if (!allocator || !is_chosen(selection_.device, replay.tables(), device)) continue;
    AllocatorPeak peak = peaks_[d].peak;
    peak.reserved_at = describe(replay.tables(), peaks_[d].reserved_at, peaks_[d].reserved_event);
    answer.devices.push_back(
        {device, std::move(peak), allocator->counters().retries, allocator->counters().ooms});
  }
  return answer;
}

}  // namespace tidemark
