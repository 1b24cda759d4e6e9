// Opens and closes spans; each costs a look at every device, and memory for those with bytes.
#include "tidemark/engine/replay/scope_spans.h"

namespace tidemark {
namespace {

DeviceId device_numbered(std::size_t number) {
  return DeviceId(static_cast<DeviceId::rep>(number));
}

}  // namespace

// A storage born again on another device while alive leaves the one and comes to the other.
void ScopeSpans::note_move(StorageState before, StorageState after, const Ledger& ledger) {
  note_change({before, {}}, ledger);
  note_change({{}, after}, ledger);
}

void ScopeSpans::begin(ScopeId scope, Phase phase, const Ledger& ledger) {
  const OpenCalls::Slot call = calls_.begin(scope, phase, ledger.now().event);
  if (call >= spans_.size()) spans_.resize(call + std::size_t{1});
  OpenSpan& span = spans_[call];
  span.begin = ledger.now();
  span.input_bytes = span.output_bytes = 0;
  span.before.clear();
  for (std::size_t d = 0; d < ledger.device_count(); ++d)
    if (const std::int64_t bytes = ledger.row(device_numbered(d)).allocated)
      span.before.push_back({device_numbered(d), bytes});
}

const ScopeSpan* ScopeSpans::end(ScopeId scope, Phase phase, const Ledger& ledger) {
  const OpenCalls::Slot call = calls_.meant(scope, phase);
  if (call != OpenCalls::kNone) return close(call, ledger);
  diagnose(diagnostics_, TapeProblem::ScopeEndedTwice,
           static_cast<std::size_t>(ledger.now().event));
  return nullptr;
}

const ScopeSpan* ScopeSpans::close(OpenCalls::Slot call, const Ledger& ledger) {
  const OpenSpan& open = spans_[call];
  ended_.scope = calls_[call].scope;
  ended_.phase = calls_[call].phase;
  ended_.begin = open.begin;
  ended_.end = ledger.now();
  ended_.input_bytes = open.input_bytes;
  ended_.output_bytes = open.output_bytes;
  fill_devices(open, ledger);
  calls_.end(call);
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
    ended_.devices.push_back(
        {device_numbered(d), bytes, row.allocated, high.event, *high.row});
  }
}

void ScopeSpans::note_use(ScopeId scope, Phase phase, Kind kind, StorageState storage) {
  const OpenCalls::Slot call = calls_.meant(scope, phase);
  if (call == OpenCalls::kNone || !storage.alive()) return;
  OpenSpan& span = spans_[call];
  std::int64_t& sum = kind == Kind::Input ? span.input_bytes : span.output_bytes;
  sum = add_saturating(sum, storage.bytes);
}

const ScopeSpan* ScopeSpans::end_next_open(const Ledger& ledger) {
  if (calls_.newest() == OpenCalls::kNone) return nullptr;
  // The first place of the problem is where the oldest began.
  diagnose(diagnostics_, TapeProblem::ScopeLeftOpen,
           static_cast<std::size_t>(calls_[calls_.oldest()].begin));
  return close(calls_.newest(), ledger);
}

std::size_t ScopeSpans::row_count() const {
  std::size_t rows = 0;
  for (auto call = calls_.oldest(); call != OpenCalls::kNone; call = calls_.newer(call))
    rows += spans_[call].before.size();
  for (const SegmentPeaks& peaks : peaks_) rows += peaks.size();
  return rows;
}

}  // namespace tidemark
