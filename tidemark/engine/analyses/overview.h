// The first look at a tape: peak, scopes and timeline together, what `tidemark report` prints.
#pragma once

#include "tidemark/engine/analyses/peak.h"
#include "tidemark/engine/analyses/scopes.h"
#include "tidemark/engine/analyses/timeline.h"
#include "tidemark/engine/answers/overview.h"

namespace tidemark {

struct OverviewOptions : Selection {
  std::size_t top = 10;         // largest storages, sites and source lines
  std::size_t depth = 3;        // of modules; 0: all
  std::size_t columns = 240;    // of the timeline; more than a terminal has, so no width matters
  std::optional<GpuFacts> gpu;  // to be judged against, instead of the one the run was for
};

Overview find_overview(const Tape& tape, const OverviewOptions& options = {});

}  // namespace tidemark
