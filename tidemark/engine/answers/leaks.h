// What grows from step to step, site by site.
#pragma once

#include <vector>

#include "tidemark/engine/answers/parts.h"
#include "tidemark/engine/base/diagnostics.h"

namespace tidemark {

struct LeakSite {
  std::string device, scope, op, source;
  Category category = Category::Unknown;
  std::int64_t count = 0, allocated_bytes = 0;
  std::int64_t steps = 0;           // in how many steps storages were left behind
  std::int64_t bytes_per_step = 0;  // over those steps
  std::int64_t first_step = 0, last_step = 0;
  bool operator==(const LeakSite&) const = default;
};

struct StepLevel {
  std::string device;
  std::int64_t step = 0;
  std::int64_t allocated_bytes = 0;  // at the step's end
  bool operator==(const StepLevel&) const = default;
};

struct LeaksAnswer {
  bool enough_steps = false;  // at least three finished steps: fewer cannot show growth
  std::int64_t finished_steps = 0;
  std::int64_t leaked_bytes = 0;
  std::vector<LeakSite> sites;    // most bytes first
  std::vector<StepLevel> levels;  // by device, then step
  Diagnostics diagnostics;
  bool operator==(const LeaksAnswer&) const = default;
};

}  // namespace tidemark
