// Every scope call from its begin to its end, with the peak inside; scopes need not nest.
#pragma once

#include <cstdint>
#include <vector>

#include "tidemark/replay/ledger.h"
#include "tidemark/replay/peak_stack.h"

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
      case Kind::Resize: note_rise(change, ledger); return nullptr;
      case Kind::ScopeBegin: begin(e, ledger); return nullptr;
      case Kind::ScopeEnd: return end(e, ledger);
      case Kind::Input:
      case Kind::Output: note_use(e, change); return nullptr;
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
    std::uint32_t outer = kNone;  // the open call of the same scope that began before this one
  };

  void note_rise(const StorageChange& change, const Ledger& ledger) {
    if (open_count_ == 0 || change.after.bytes <= change.before.bytes) return;
    const std::size_t device = change.after.device.value;
    if (device >= stacks_.size()) [[unlikely]] stacks_.resize(device + 1);
    stacks_[device].note_rise(ledger.now().event, ledger.row(change.after.device));
  }
  void begin(const Event& e, const Ledger& ledger);
  const ScopeSpan* end(const Event& e, const Ledger& ledger);
  const ScopeSpan* close(std::uint32_t slot, const Ledger& ledger);
  void note_use(const Event& e, const StorageChange& change);
  std::uint32_t take_slot();
  std::uint32_t* innermost(ScopeId scope);

  std::vector<PeakStack> stacks_;          // by device
  std::vector<OpenSpan> slots_;            // open spans, and free places for more
  std::vector<std::uint32_t> free_slots_;
  std::vector<std::uint32_t> innermost_;   // by scope: its newest open call
  std::size_t open_count_ = 0;
  Diagnostics diagnostics_;
};

}  // namespace tidemark
