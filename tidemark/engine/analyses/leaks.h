// What grows from step to step and never dies.
//
// A site (device, category, scope, operator, source line) leaks when storages born there in at
// least two finished steps after the first are still alive at the end. The first step is warm-up:
// optimizer state is born there for good reason. The last step is not finished: what it holds is
// its working set.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "tidemark/engine/answers/leaks.h"
#include "tidemark/engine/tape/tape.h"

namespace tidemark {

struct LeaksOptions {
  std::optional<std::string> device;
  std::size_t top = 10;
};

class LeaksAccumulator {
 public:
  explicit LeaksAccumulator(const Tables& tables, LeaksOptions options = {});
  ~LeaksAccumulator();
  LeaksAccumulator(LeaksAccumulator&&) noexcept;
  LeaksAccumulator& operator=(LeaksAccumulator&&) noexcept;

  void add(const Event& event);
  LeaksAnswer answer() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

LeaksAnswer find_leaks(const Tape& tape, const LeaksOptions& options = {});

}  // namespace tidemark
