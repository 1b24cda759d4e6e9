// Checks every invariant of a tape.
#pragma once

#include "tidemark/engine/base/diagnostics.h"
#include "tidemark/engine/tape/tape.h"

namespace tidemark {

// Every violation: its code, how often, and the first event that shows it. Empty when all is well.
Diagnostics verify(const Tape& tape);

}  // namespace tidemark
