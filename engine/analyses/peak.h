// The highest moment of each device: how much, when, and what was alive.
#pragma once

#include <memory>
#include <vector>

#include "tidemark/analyses/answer_parts.h"
#include "tidemark/base/diagnostics.h"
#include "tidemark/tape/tape.h"

namespace tidemark {

struct PeakOptions : Selection {
  std::size_t top = 10;  // how many of the largest storages
};

// What one module, or what is outside of all, owns of the storages alive at the peak.
struct ScopeShare {
  std::string scope;  // empty: outside of all
  std::int64_t allocated_bytes = 0;
  CategoryBytes categories{};
};

struct DevicePeak {
  std::string device;
  std::int64_t allocated_bytes = 0, requested_bytes = 0;
  When at;
  CategoryBytes categories{};       // allocated bytes; they sum to allocated_bytes
  std::int64_t alive_count = 0;     // storages alive at the peak
  std::vector<StorageFact> largest;  // the largest of them first
  std::vector<ScopeShare> owners;    // all of them by scope; they sum to allocated_bytes
};

struct PeakAnswer {
  std::vector<DevicePeak> devices;  // in the tape's order; those without bytes left out
  std::int64_t events = 0, steps = 0;
  Diagnostics diagnostics;
};

// Fed event by event while a run goes on. The tables must outlive it.
class PeakAccumulator {
 public:
  explicit PeakAccumulator(const Tables& tables, PeakOptions options = {});
  ~PeakAccumulator();
  PeakAccumulator(PeakAccumulator&&) noexcept;
  PeakAccumulator& operator=(PeakAccumulator&&) noexcept;

  void add(const Event& event);
  PeakAnswer answer() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Throws Error(NotFound) for a device or step the tape does not have.
PeakAnswer find_peak(const Tape& tape, const PeakOptions& options = {});

}  // namespace tidemark
