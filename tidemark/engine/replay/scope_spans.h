// Every scope call from its begin to its end, with the peak inside; scopes need not nest.
#pragma once

#include <cstdint>
#include <vector>

#include "tidemark/engine/replay/ledger.h"
#include "tidemark/engine/replay/segment_peaks.h"

namespace tidemark {

// One device's bytes around and inside a span.
struct DeviceSpan {
  DeviceId device;
  std::int64_t before = 0, after = 0;
  std::int64_t peak_event = 0;
  LedgerRow peak;  // the state at the first highest moment, the begin included
};

struct ScopeSpan {
  ScopeId scope;
  Phase phase = Phase::Other;
  Moment begin, end;
  std::int64_t input_bytes = 0, output_bytes = 0;  // requested bytes of distinct mentions
  std::vector<DeviceSpan> devices;                 // those that had bytes, by number
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
  std::size_t open_count() const { return calls_.size(); }
  // Rows that open spans hold: a device costs one where it has bytes, a span where it changed.
  std::size_t row_count() const;
  const Diagnostics& diagnostics() const { return diagnostics_; }

 private:
  struct Before {
    DeviceId device;
    std::int64_t allocated = 0;
  };
  struct OpenSpan {
    Moment begin;
    std::int64_t input_bytes = 0, output_bytes = 0;
    std::vector<Before> before;  // devices with bytes, by number
  };

  void note_change(const StorageChange& change, const Ledger& ledger) {
    if (calls_.size() == 0) return;
    const bool is_both = change.before.alive() && change.after.alive();
    if (is_both && change.before.device != change.after.device) [[unlikely]]
      return note_move(change.before, change.after, ledger);
    const DeviceId device = change.before.alive() ? change.before.device : change.after.device;
    if (!device || device.value >= ledger.device_count()) return;
    if (device.value >= peaks_.size()) [[unlikely]] peaks_.resize(ledger.device_count());
    peaks_[device.value].note(ledger.now().event, change, ledger.device(device),
                              ledger.row(device), calls_);
  }
  void note_move(StorageState before, StorageState after, const Ledger& ledger);
  void begin(ScopeId scope, Phase phase, const Ledger& ledger);
  const ScopeSpan* end(ScopeId scope, Phase phase, const Ledger& ledger);
  const ScopeSpan* close(OpenCalls::Slot call, const Ledger& ledger);
  void fill_devices(const OpenSpan& open, const Ledger& ledger);
  void note_use(ScopeId scope, Phase phase, Kind kind, StorageState storage);

  OpenCalls calls_;
  std::vector<OpenSpan> spans_;      // by slot of the call
  std::vector<SegmentPeaks> peaks_;  // by device
  ScopeSpan ended_;
  Diagnostics diagnostics_;
};

}  // namespace tidemark
