// From events to answers: one walk through a tape for as many analyses as are given, or one
// analysis that is fed while a run goes on.
#pragma once

#include <tuple>
#include <utility>

#include "tidemark/engine/replay/replay.h"

namespace tidemark {

// What observers answer after a walk: of several a tuple, of one its own. Their diagnostics come
// after those of the tape itself.
template <class... Observers>
auto answers_after(const Replay& replay, const Tape& tape, const Observers&... observers) {
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
  Replay replay(tape.tables());
  replay.add_all(tape, observers...);
  return answers_after(replay, tape, observers...);
}

// The same, with storages charged the blocks that a caching allocator would hand out.
template <class... Observers>
auto feed_by_blocks(const Tape& tape, const AllocatorOptions& allocator, Observers... observers) {
  Replay replay(tape.tables(), allocator);
  replay.add_all_by_blocks(tape, observers...);
  return answers_after(replay, tape, observers...);
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
