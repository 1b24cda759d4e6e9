// Opens and closes spans; each costs a look at every device, and memory for those with bytes.
#include "tidemark/engine/replay/scope_spans.h"

namespace tidemark {

void ScopeSpans::add_devices(const Ledger& ledger) {
  device_count_ = ledger.device_count();
  peaks_.resize(device_count_);
}

void ScopeSpans::begin(const Replay& replay) {
  const OpenCalls::Slot call = replay.scopes().meant();
  if (call >= spans_.size()) spans_.resize(call + std::size_t{1});
  OpenSpan& span = spans_[call];
  span.begin = replay.now();
  span.input_bytes = span.output_bytes = 0;
  span.before.clear();
  for (std::size_t d = 0; d < replay.ledger().device_count(); ++d)
    if (const std::int64_t bytes = replay.ledger().row(device_numbered(d)).allocated)
      span.before.push_back({device_numbered(d), bytes});
}

const ScopeSpan* ScopeSpans::end(OpenCalls::Slot call, const Replay& replay) {
  if (call == OpenCalls::kNone) return nullptr;
  const OpenSpan& open = spans_[call];
  ended_.scope = replay.scopes().open()[call].scope;
  ended_.phase = replay.scopes().open()[call].phase;
  ended_.begin = open.begin;
  ended_.end = replay.now();
  ended_.input_bytes = open.input_bytes;
  ended_.output_bytes = open.output_bytes;
  fill_devices(open, replay.ledger());
  return &ended_;
}

void ScopeSpans::fill_devices(const OpenSpan& open, const Ledger& ledger) {
  ended_.devices.clear();
  auto before = open.before.begin();
  for (std::size_t d = 0; d < ledger.device_count(); ++d) {
    const LedgerRow& row = ledger.row(device_numbered(d));
    const bool had_bytes = before != open.before.end() && before->device == device_numbered(d);
    const std::int64_t bytes = had_bytes ? before++->allocated : 0;
    SegmentPeaks::High high{open.begin.event, &row};
    if (d < peaks_.size()) high = peaks_[d].highest_since(open.begin.event, row);
    if (bytes == 0 && row.allocated == 0 && high.row->allocated == 0) continue;
    ended_.devices.push_back({device_numbered(d), bytes, row.allocated, high.event, *high.row});
  }
}

void ScopeSpans::note_use(Kind kind, StorageState storage, const Replay& replay) {
  const OpenCalls::Slot call = replay.scopes().meant();
  if (call == OpenCalls::kNone || !storage.alive()) return;
  OpenSpan& span = spans_[call];
  std::int64_t& sum = kind == Kind::Input ? span.input_bytes : span.output_bytes;
  sum = add_saturating(sum, storage.bytes());
}

std::size_t ScopeSpans::row_count(const OpenCalls& open) const {
  std::size_t rows = 0;
  for (auto call = open.oldest(); call != OpenCalls::kNone; call = open.newer(call))
    rows += spans_[call].before.size();
  for (const SegmentPeaks& peaks : peaks_) rows += peaks.size();
  return rows;
}

}  // namespace tidemark
