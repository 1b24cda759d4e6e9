// The first look at a tape, as an answer.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "tidemark/engine/answers/peak.h"
#include "tidemark/engine/answers/scopes.h"
#include "tidemark/engine/answers/timeline.h"
#include "tidemark/engine/answers/verdict.h"

namespace tidemark {

struct Overview {
  RunFacts run;
  std::optional<VerdictAnswer> verdict;     // none where the run knows of no GPU
  std::vector<std::string> not_covered;     // what the run cannot tell, a sentence each
  std::map<std::string, std::string> meta;  // what else the tape says of its run
  std::int64_t events = 0, steps = 0;
  PeakAnswer peak;  // the device that decides first
  ScopesAnswer scopes;
  TimelineAnswer timeline;
  Diagnostics diagnostics;  // of the tape and of all three, each once
  bool operator==(const Overview&) const = default;
};

}  // namespace tidemark
