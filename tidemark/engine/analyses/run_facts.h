// Reads what a tape's meta says of its run; docs/formats/tape.md lists the keys.
#pragma once

#include "tidemark/engine/answers/run.h"
#include "tidemark/engine/tape/tape.h"

namespace tidemark {

// What does not read is taken as not said.
RunFacts find_run_facts(const Tape& tape);

}  // namespace tidemark
