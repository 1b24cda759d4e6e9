// Follows each device's peak, and explains it when asked.
#include "tidemark/engine/analyses/peak.h"

#include "tidemark/engine/analyses/allocator_peaks.h"
#include "tidemark/engine/analyses/naming.h"
#include "tidemark/engine/analyses/peak_shares.h"
#include "tidemark/engine/analyses/run_facts.h"

namespace tidemark {
namespace {

PeakAnswer find_peak_of_blocks(const Tape& tape, const PeakOptions& options) {
  const AllocatorOptions allocator =
      allocator_of(find_run_facts(tape), parse_allocator_settings(*options.allocator_settings));
  auto [peak, peaks] = feed_by_blocks(tape, allocator, PeakObserver(options),
                                      AllocatorPeaks(tape.tables(), allocator, options));
  for (DevicePeak& device : peak.devices)
    if (const auto* found = peaks.find(tape.tables().find_device(device.device)))
      device.allocator = found->peak;
  return peak;
}

}  // namespace

void PeakObserver::add_device() { keepers_.emplace_back(device_numbered(keepers_.size())); }

DevicePeak PeakObserver::explain(const PeakKeeper& keeper, const Replay& replay) const {
  const Tables& tables = replay.tables();
  const std::vector<LiveStorage> alive = keeper.alive_at_peak(replay.live());
  return {.device = device_name(tables, keeper.device()),
          .allocated_bytes = keeper.row().allocated,
          .requested_bytes = keeper.row().requested,
          .at = describe(tables, keeper.at(), keeper.event()),
          .categories = keeper.row().by_category,
          .alive_count = static_cast<std::int64_t>(alive.size()),
          .largest = largest_of(alive, options_.top, tables),
          .owners = owners_of(alive, tables),
          .modules = modules_of(alive, options_.depth, tables),
          .sites = sites_of(alive, options_.top, tables),
          .lines = lines_of(alive, options_.top, tables),
          .allocator = {}};
}

PeakAnswer PeakObserver::answer(const Replay& replay) const {
  PeakAnswer answer;
  for (const PeakKeeper& keeper : keepers_)
    if (keeper.found() && is_chosen(options_.device, replay.tables(), keeper.device()))
      answer.devices.push_back(explain(keeper, replay));
  answer.events = replay.now().event + 1;
  answer.steps = replay.now().step;
  answer.diagnostics = replay.ledger().diagnostics();
  return answer;
}

PeakAnswer find_peak(const Tape& tape, const PeakOptions& options) {
  check_selection(options, tape);
  if (options.allocator_settings) return find_peak_of_blocks(tape, options);
  return feed(tape, PeakObserver(options));
}

}  // namespace tidemark
