// Opens and closes spans; each costs O(devices) and one binary search a device.
#include "tidemark/replay/scope_spans.h"

#include <algorithm>

namespace tidemark {

std::uint32_t* ScopeSpans::innermost(ScopeId scope) {
  if (!scope) return nullptr;
  if (scope.value >= innermost_.size())
    innermost_.resize(std::max<std::size_t>(scope.value + 1, innermost_.size() * 2), kNone);
  return &innermost_[scope.value];
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

// A device that appears inside open scopes was empty when they began.
void ScopeSpans::grow(const Ledger& ledger) {
  for (std::size_t d = peaks_.size(); d < ledger.device_count(); ++d) {
    peaks_.emplace_back();
    if (open_count_ > 0) peaks_.back().cut(0, {});
  }
}

void ScopeSpans::begin(ScopeId scope, Phase phase, const Ledger& ledger) {
  std::uint32_t* newest = innermost(scope);
  if (!newest) return;
  const std::uint32_t slot = take_slot();
  OpenSpan& open = slots_[slot];
  open.outer = *newest;
  *newest = slot;

  ScopeSpan& span = open.span;
  span.scope = scope;
  span.phase = phase;
  span.begin = ledger.now();
  span.input_bytes = span.output_bytes = 0;
  span.devices.assign(ledger.device_count(), {});
  grow(ledger);
  ++open_count_;
  for (std::size_t d = 0; d < span.devices.size(); ++d) {
    const LedgerRow& row = ledger.row(DeviceId(static_cast<DeviceId::rep>(d)));
    span.devices[d].before = row.allocated;
    peaks_[d].cut(span.begin.event, row);
  }
}

const ScopeSpan* ScopeSpans::end(ScopeId scope, Phase phase, const Ledger& ledger) {
  std::uint32_t* link = innermost(scope);
  if (!link || *link == kNone) {
    diagnose(diagnostics_, TapeProblem::ScopeEndedTwice,
             static_cast<std::size_t>(ledger.now().event));
    return nullptr;
  }
  // A call that began in the same phase is the one meant; else the newest.
  for (std::uint32_t* next = link; *next != kNone; next = &slots_[*next].outer)
    if (slots_[*next].span.phase == phase) {
      link = next;
      break;
    }
  const std::uint32_t slot = *link;
  *link = slots_[slot].outer;
  return close(slot, ledger);
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
  free_slots_.push_back(slot);
  if (--open_count_ == 0)
    for (SegmentPeaks& peaks : peaks_) peaks.clear();
  return &span;
}

void ScopeSpans::note_use(ScopeId scope, Kind kind, StorageState storage) {
  const std::uint32_t* newest = innermost(scope);
  if (!newest || *newest == kNone || !storage.alive()) return;
  ScopeSpan& span = slots_[*newest].span;
  std::int64_t& sum = kind == Kind::Input ? span.input_bytes : span.output_bytes;
  sum = add_saturating(sum, storage.bytes);
}

const ScopeSpan* ScopeSpans::end_next_open(const Ledger& ledger) {
  std::uint32_t newest = kNone;
  ScopeId scope;
  for (std::size_t s = 0; s < innermost_.size(); ++s) {
    const std::uint32_t slot = innermost_[s];
    if (slot == kNone) continue;
    if (newest == kNone || slots_[slot].span.begin.event > slots_[newest].span.begin.event) {
      newest = slot;
      scope = ScopeId(static_cast<std::uint32_t>(s));
    }
  }
  if (newest == kNone) return nullptr;
  diagnose(diagnostics_, TapeProblem::ScopeLeftOpen,
           static_cast<std::size_t>(slots_[newest].span.begin.event));
  innermost_[scope.value] = slots_[newest].outer;
  return close(newest, ledger);
}

}  // namespace tidemark
