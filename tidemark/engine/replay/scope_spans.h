// Every scope call from its begin to its end, with the peak inside; scopes need not nest.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "tidemark/engine/replay/ledger.h"
#include "tidemark/engine/replay/segment_peaks.h"

namespace tidemark {

// One device's bytes around and inside a span.
struct DeviceSpan {
  std::int64_t before = 0, after = 0;
  std::int64_t peak_event = 0;
  LedgerRow peak;  // the state at the highest moment, the begin included
};

struct ScopeSpan {
  ScopeId scope;
  Phase phase = Phase::Other;
  Moment begin, end;
  std::int64_t input_bytes = 0, output_bytes = 0;  // requested bytes of distinct mentions
  std::vector<DeviceSpan> devices;                 // by device number; later devices missing
};

class ScopeSpans {
 public:
  // Adds an event after the ledger has. Returns the span that this event ends, or null; it is
  // good until the next call.
  const ScopeSpan* add(const Event& e, const StorageChange& change, const Ledger& ledger) {
    switch (e.kind) {
      case Kind::Alloc:
      case Kind::Free:
      case Kind::Resize:
      case Kind::Relabel: note_change(change, ledger); return nullptr;
      case Kind::ScopeBegin: begin(e.scope, e.phase, ledger); return nullptr;
      case Kind::ScopeEnd: return end(e.scope, e.phase, ledger);
      case Kind::Input:
      case Kind::Output: note_use(e.scope, e.phase, e.kind, change.before); return nullptr;
      default: return nullptr;
    }
  }

  // Ends one span that is still open, newest first; null when none is left.
  const ScopeSpan* end_next_open(const Ledger& ledger);
  std::size_t open_count() const { return open_count_; }
  const Diagnostics& diagnostics() const { return diagnostics_; }

 private:
  static constexpr std::uint32_t kNone = UINT32_MAX;
  struct OpenSpan {
    ScopeSpan span;
    std::uint32_t outer = kNone;  // the open call of this scope and phase that began before
    std::uint32_t older = kNone, newer = kNone;  // the neighbours by begin, of all open spans
  };

  void note_change(const StorageChange& change, const Ledger& ledger) {
    if (open_count_ == 0) return;
    const bool is_both = change.before.alive() && change.after.alive();
    if (is_both && change.before.device != change.after.device) [[unlikely]]
      return note_move(change.before, change.after, ledger);
    const DeviceId device = change.before.alive() ? change.before.device : change.after.device;
    if (!device || device.value >= ledger.device_count()) return;
    if (device.value >= peaks_.size()) [[unlikely]] grow(ledger);
    peaks_[device.value].note(ledger.now().event, change, ledger.device(device),
                              ledger.row(device));
  }
  void note_move(StorageState before, StorageState after, const Ledger& ledger);
  void grow(const Ledger& ledger);
  void begin(ScopeId scope, Phase phase, const Ledger& ledger);
  const ScopeSpan* end(ScopeId scope, Phase phase, const Ledger& ledger);
  const ScopeSpan* close(std::uint32_t slot, const Ledger& ledger);
  void note_use(ScopeId scope, Phase phase, Kind kind, StorageState storage);
  std::uint32_t take_slot();
  void link(std::uint32_t slot);
  void unlink(const OpenSpan& open);
  std::uint32_t call_meant(ScopeId scope, Phase phase) const;

  std::vector<SegmentPeaks> peaks_;  // by device
  std::vector<OpenSpan> slots_;      // open spans, and free places for more
  std::vector<std::uint32_t> free_slots_;
  std::vector<std::array<std::uint32_t, kPhaseCount>> innermost_;  // newest calls, by scope
  std::uint32_t newest_ = kNone, oldest_ = kNone;  // of all open spans
  std::size_t open_count_ = 0;
  Diagnostics diagnostics_;
};

}  // namespace tidemark
