// Who lives how long: each storage from birth to death.
#pragma once

#include <memory>

#include "tidemark/engine/analyses/selection.h"
#include "tidemark/engine/answers/lifetimes.h"
#include "tidemark/engine/tape/tape.h"

namespace tidemark {

struct LifetimesOptions : Selection {  // a step selects what is born in it
  std::size_t top = 10;
};

class LifetimesAccumulator {
 public:
  explicit LifetimesAccumulator(const Tables& tables, LifetimesOptions options = {});
  ~LifetimesAccumulator();
  LifetimesAccumulator(LifetimesAccumulator&&) noexcept;
  LifetimesAccumulator& operator=(LifetimesAccumulator&&) noexcept;

  void add(const Event& event);
  LifetimesAnswer answer() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

LifetimesAnswer find_lifetimes(const Tape& tape, const LifetimesOptions& options = {});

}  // namespace tidemark
