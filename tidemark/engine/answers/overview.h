// The first look at a tape, as an answer.
#pragma once

#include <map>
#include <string>

#include "tidemark/engine/answers/peak.h"
#include "tidemark/engine/answers/scopes.h"
#include "tidemark/engine/answers/timeline.h"

namespace tidemark {

struct Overview {
  std::map<std::string, std::string> meta;  // what the tape says of its run
  std::int64_t events = 0, steps = 0;
  PeakAnswer peak;
  ScopesAnswer scopes;
  TimelineAnswer timeline;
  Diagnostics diagnostics;  // of the tape and of all three, each once
};

}  // namespace tidemark
