// From a tape to an answer: every analysis of a finished tape goes through its accumulator.
#pragma once

#include <utility>

#include "tidemark/engine/tape/tape.h"

namespace tidemark {

// Feeds every event; the answer's diagnostics come after those of the tape itself.
template <class Accumulator>
auto feed(const Tape& tape, Accumulator accumulator) {
  for (std::size_t i = 0; i < tape.size(); ++i) accumulator.add(tape[i]);
  auto answer = accumulator.answer();
  Diagnostics all = tape.diagnostics();
  all.add(answer.diagnostics);
  answer.diagnostics = std::move(all);
  return answer;
}

}  // namespace tidemark
