// The first look at a tape: peak, scopes and timeline together, what `tidemark report` prints.
#pragma once

#include <map>
#include <string>

#include "tidemark/analyses/peak.h"
#include "tidemark/analyses/scopes.h"
#include "tidemark/analyses/timeline.h"

namespace tidemark {

struct OverviewOptions : Selection {
  std::size_t top = 10;      // largest storages
  std::size_t depth = 2;     // of scopes; 0: all
  std::size_t columns = 72;  // of the timeline
};

struct Overview {
  std::map<std::string, std::string> meta;  // what the tape says of its run
  std::int64_t events = 0, steps = 0;
  PeakAnswer peak;
  ScopesAnswer scopes;
  TimelineAnswer timeline;
  Diagnostics diagnostics;  // of the tape and of all three, each once
};

Overview find_overview(const Tape& tape, const OverviewOptions& options = {});

}  // namespace tidemark
