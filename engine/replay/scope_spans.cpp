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

void ScopeSpans::begin(const Event& e, const Ledger& ledger) {
  std::uint32_t* newest = innermost(e.scope);
  if (!newest) return;
  const std::uint32_t slot = take_slot();
  OpenSpan& open = slots_[slot];
  open.outer = *newest;
  *newest = slot;
  ++open_count_;

  ScopeSpan& span = open.span;
  span.scope = e.scope;
  span.phase = e.phase;
  span.begin = ledger.now();
  span.input_bytes = span.output_bytes = 0;
  span.devices.resize(ledger.device_count());
  for (std::size_t d = 0; d < span.devices.size(); ++d) {
    DeviceSpan& device = span.devices[d];
    device.peak = ledger.row(DeviceId(static_cast<DeviceId::rep>(d)));
    device.peak_event = span.begin.event;
    device.before = device.peak.allocated;
  }
}

const ScopeSpan* ScopeSpans::end(const Event& e, const Ledger& ledger) {
  std::uint32_t* link = innermost(e.scope);
  if (!link || *link == kNone) {
    diagnose(diagnostics_, TapeProblem::ScopeEndedTwice,
             static_cast<std::size_t>(ledger.now().event));
    return nullptr;
  }
  // A call that began in the same phase is the one meant; else the newest.
  for (std::uint32_t* next = link; *next != kNone; next = &slots_[*next].outer)
    if (slots_[*next].span.phase == e.phase) {
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
    DeviceSpan& device = span.devices[d];
    device.after = ledger.row(DeviceId(static_cast<DeviceId::rep>(d))).allocated;
    const PeakStack::Entry* highest =
        d < stacks_.size() ? stacks_[d].highest_since(span.begin.event) : nullptr;
    if (!highest || highest->row.allocated <= device.peak.allocated) continue;
    device.peak = highest->row;
    device.peak_event = highest->event;
  }
  free_slots_.push_back(slot);
  if (--open_count_ == 0)
    for (PeakStack& stack : stacks_) stack.clear();
  return &span;
}

void ScopeSpans::note_use(const Event& e, const StorageChange& change) {
  const std::uint32_t* newest = innermost(e.scope);
  if (!newest || *newest == kNone || !change.before.alive()) return;
  ScopeSpan& span = slots_[*newest].span;
  std::int64_t& sum = e.kind == Kind::Input ? span.input_bytes : span.output_bytes;
  sum = add_saturating(sum, change.before.bytes);
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
