// The first look at a tape: peak, scopes and timeline together, what `tidemark report` prints.
#pragma once

#include "tidemark/engine/answers/overview.h"
#include "tidemark/engine/analyses/peak.h"
#include "tidemark/engine/analyses/scopes.h"
#include "tidemark/engine/analyses/timeline.h"

namespace tidemark {

struct OverviewOptions : Selection {
  std::size_t top = 10;      // largest storages
  std::size_t depth = 2;     // of scopes; 0: all
  std::size_t columns = 72;  // of the timeline
};

Overview find_overview(const Tape& tape, const OverviewOptions& options = {});

}  // namespace tidemark
