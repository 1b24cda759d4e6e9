// Every scope call from its begin to its end, with the peak inside; scopes need not nest.
#pragma once

#include <cstdint>
#include <vector>

#include "tidemark/engine/replay/replay.h"
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
  static constexpr Needs kNeeds = {.scopes = true};

  // Looks at the event that the replay is at. Returns the span that this event ends, or null; it
  // is good until the next call.
  const ScopeSpan* look(const Event& e, const Change& change, const Replay& replay) {
    switch (e.kind) {
      case Kind::Alloc:
      case Kind::Free:
      case Kind::Resize:
      case Kind::Relabel:
      case Kind::Block: note_change(change, replay); return nullptr;
      case Kind::ScopeBegin: begin(replay); return nullptr;
      case Kind::ScopeEnd: return end(replay.scopes().meant(), replay);
      case Kind::Input:
      case Kind::Output: note_use(e.kind, change.before, replay); return nullptr;
      default: return nullptr;
    }
  }

  // The span of a call as if it ended here; null for no call, else good until the next.
  const ScopeSpan* end(OpenCalls::Slot call, const Replay& replay);
  // Rows that open spans hold: a device costs one where it has bytes, a span where it changed.
  std::size_t row_count(const OpenCalls& open) const;

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

  // A storage born again on another device while alive changes both.
  void note_change(const Change& change, const Replay& replay) {
    if (replay.scopes().open().empty()) return;
    if (change.before.alive()) note_on(change.before.device(), change, replay);
    if (change.after.alive() &&
        !(change.before.alive() && change.before.device() == change.after.device()))
      note_on(change.after.device(), change, replay);
  }
  [[gnu::always_inline]] inline void note_on(DeviceId device, const Change& change,
                                             const Replay& replay) {
    const Ledger& ledger = replay.ledger();
    if (device.value >= device_count_) [[unlikely]]
      add_devices(ledger);
    peaks_[device.value].note(ledger.now().event, change, device, ledger.row(device),
                              replay.scopes().open());
  }
  void add_devices(const Ledger& ledger);
  void begin(const Replay& replay);
  void fill_devices(const OpenSpan& open, const Ledger& ledger);
  void note_use(Kind kind, StorageState storage, const Replay& replay);

  std::vector<OpenSpan> spans_;      // by slot of the call
  std::vector<SegmentPeaks> peaks_;  // by device
  std::size_t device_count_ = 0;     // of peaks, as in the ledger
  ScopeSpan ended_;
};

}  // namespace tidemark
