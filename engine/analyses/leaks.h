// What grows from step to step and never dies.
//
// A site (device, category, scope, operator, source line) leaks when storages born there in at
// least two finished steps after the first are still alive at the end. The first step is warm-up:
// optimizer state is born there for good reason. The last step is not finished: what it holds is
// its working set.
#pragma once

#include <memory>
#include <vector>

#include "tidemark/analyses/answer_parts.h"
#include "tidemark/base/diagnostics.h"
#include "tidemark/tape/tape.h"

namespace tidemark {

struct LeaksOptions {
  std::optional<std::string> device;
  std::size_t top = 10;
};

struct LeakSite {
  std::string device, scope, op, source;
  Category category = Category::Unknown;
  std::int64_t count = 0, allocated_bytes = 0;
  std::int64_t steps = 0;           // in how many steps storages were left behind
  std::int64_t bytes_per_step = 0;  // over those steps
  std::int64_t first_step = 0, last_step = 0;
};

struct StepLevel {
  std::string device;
  std::int64_t step = 0;
  std::int64_t allocated_bytes = 0;  // at the step's end
};

struct LeaksAnswer {
  bool enough_steps = false;      // at least three finished steps: fewer cannot show growth
  std::int64_t finished_steps = 0;
  std::int64_t leaked_bytes = 0;
  std::vector<LeakSite> sites;    // most bytes first
  std::vector<StepLevel> levels;  // by device, then step
  Diagnostics diagnostics;
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
