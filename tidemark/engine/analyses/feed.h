// From events to answers: one walk through a tape for as many analyses as are given, or one
// analysis that is fed while a run goes on.
#pragma once

#include <tuple>
#include <utility>

#include "tidemark/engine/replay/replay.h"

namespace tidemark {

// The answers of observers that have seen a whole tape: of several a tuple, of one its own. Their
// diagnostics come after those of the tape itself.
template <class... Observers>
auto feed_through(Replay replay, const Tape& tape, Observers... observers) {
  replay.add_all(tape, observers...);
  const auto answer = [&](const auto& observer) {
    auto found = observer.answer(replay);
    Diagnostics all = tape.diagnostics();
    all.add(found.diagnostics);
    found.diagnostics = std::move(all);
    return found;
  };
  if constexpr (sizeof...(Observers) == 1) return answer(observers...);
  else return std::tuple(answer(observers)...);
}

template <class... Observers>
auto feed(const Tape& tape, Observers... observers) {
  return feed_through(Replay(tape.tables()), tape, std::move(observers)...);
}

// An analysis that follows a live run. The tables must outlive it.
template <class Observer>
class Accumulator {
 public:
  template <class... Options>
  explicit Accumulator(const Tables& tables, Options... options)
      : replay_(tables), observer_(std::move(options)...) {}

  void add(const Event& event) { replay_.add(event, observer_); }
  // The answer as of now; the run may go on.
  auto answer() const { return observer_.answer(replay_); }

 private:
  Replay replay_;
  Observer observer_;
};

}  // namespace tidemark
