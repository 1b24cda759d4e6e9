// Opens and closes spans; each costs O(devices) and one binary search a device.
#include "tidemark/engine/replay/scope_spans.h"

#include <algorithm>
#include <utility>

namespace tidemark {

// The newest call that began in this phase is the one meant; else the newest of any.
std::uint32_t ScopeSpans::call_meant(ScopeId scope, Phase phase) const {
  if (scope.value >= innermost_.size()) return kNone;
  const auto& calls = innermost_[scope.value];
  std::uint32_t meant = calls[static_cast<std::size_t>(phase)];
  if (meant != kNone) return meant;
  for (std::uint32_t slot : calls)
    if (slot != kNone &&
        (meant == kNone || slots_[slot].span.begin.event > slots_[meant].span.begin.event))
      meant = slot;
  return meant;
}

void ScopeSpans::link(std::uint32_t slot) {
  OpenSpan& open = slots_[slot];
  const std::size_t scope = open.span.scope.value;
  if (scope >= innermost_.size()) {
    std::array<std::uint32_t, kPhaseCount> none;
    none.fill(kNone);
    innermost_.resize(std::max(scope + 1, innermost_.size() * 2), none);
  }
  open.outer = std::exchange(innermost_[scope][static_cast<std::size_t>(open.span.phase)], slot);
  open.older = std::exchange(newest_, slot);
  open.newer = kNone;
  (open.older == kNone ? oldest_ : slots_[open.older].newer) = slot;
}

void ScopeSpans::unlink(const OpenSpan& open) {
  innermost_[open.span.scope.value][static_cast<std::size_t>(open.span.phase)] = open.outer;
  (open.newer == kNone ? newest_ : slots_[open.newer].older) = open.older;
  (open.older == kNone ? oldest_ : slots_[open.older].newer) = open.newer;
}

std::uint32_t ScopeSpans::take_slot() {
  if (free_slots_.empty()) {
    slots_.emplace_back();
    return static_cast<std::uint32_t>(slots_.size() - 1);
  }
  const std::uint32_t slot = free_slots_.back();
  free_slots_.pop_back();
  return slot;
}

// A device that appears inside open scopes was empty when the newest of them began.
void ScopeSpans::grow(const Ledger& ledger) {
  for (std::size_t d = peaks_.size(); d < ledger.device_count(); ++d) {
    peaks_.emplace_back();
    if (newest_ != kNone) peaks_.back().cut(slots_[newest_].span.begin.event, {});
  }
}

// A storage born again on another device while alive leaves the one and comes to the other.
void ScopeSpans::note_move(StorageState before, StorageState after, const Ledger& ledger) {
  note_change({before, {}}, ledger);
  note_change({{}, after}, ledger);
}

void ScopeSpans::begin(ScopeId scope, Phase phase, const Ledger& ledger) {
  if (!scope) return;
  grow(ledger);
  const std::uint32_t slot = take_slot();
  ScopeSpan& span = slots_[slot].span;
  span.scope = scope;
  span.phase = phase;
  span.begin = ledger.now();
  span.input_bytes = span.output_bytes = 0;
  span.devices.assign(ledger.device_count(), {});
  for (std::size_t d = 0; d < span.devices.size(); ++d) {
    const LedgerRow& row = ledger.row(DeviceId(static_cast<DeviceId::rep>(d)));
    span.devices[d].before = row.allocated;
    peaks_[d].cut(span.begin.event, row);
  }
  link(slot);
  ++open_count_;
}

const ScopeSpan* ScopeSpans::end(ScopeId scope, Phase phase, const Ledger& ledger) {
  const std::uint32_t slot = call_meant(scope, phase);
  if (slot != kNone) return close(slot, ledger);
  diagnose(diagnostics_, TapeProblem::ScopeEndedTwice,
           static_cast<std::size_t>(ledger.now().event));
  return nullptr;
}

const ScopeSpan* ScopeSpans::close(std::uint32_t slot, const Ledger& ledger) {
  ScopeSpan& span = slots_[slot].span;
  span.end = ledger.now();
  span.devices.resize(ledger.device_count());
  for (std::size_t d = 0; d < span.devices.size(); ++d) {
    const LedgerRow& row = ledger.row(DeviceId(static_cast<DeviceId::rep>(d)));
    const SegmentPeaks::High& high = peaks_[d].highest_since(span.begin.event, row);
    span.devices[d].after = row.allocated;
    span.devices[d].peak_event = high.event;
    span.devices[d].peak = high.row;
  }
  unlink(slots_[slot]);
  free_slots_.push_back(slot);
  if (--open_count_ == 0)
    for (SegmentPeaks& peaks : peaks_) peaks.clear();
  return &span;
}

void ScopeSpans::note_use(ScopeId scope, Phase phase, Kind kind, StorageState storage) {
  const std::uint32_t slot = call_meant(scope, phase);
  if (slot == kNone || !storage.alive()) return;
  ScopeSpan& span = slots_[slot].span;
  std::int64_t& sum = kind == Kind::Input ? span.input_bytes : span.output_bytes;
  sum = add_saturating(sum, storage.bytes);
}

const ScopeSpan* ScopeSpans::end_next_open(const Ledger& ledger) {
  if (newest_ == kNone) return nullptr;
  // The first place of the problem is where the oldest began.
  diagnose(diagnostics_, TapeProblem::ScopeLeftOpen,
           static_cast<std::size_t>(slots_[oldest_].span.begin.event));
  return close(newest_, ledger);
}

}  // namespace tidemark
