// The highest moment of each device: how much, when, and what was alive.
#pragma once

#include <memory>

#include "tidemark/engine/analyses/selection.h"
#include "tidemark/engine/answers/peak.h"
#include "tidemark/engine/tape/tape.h"

namespace tidemark {

struct PeakOptions : Selection {
  std::size_t top = 10;   // how many of the largest storages, sites and source lines
  std::size_t depth = 3;  // of the tree of modules; 0: all
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
